import {
  type ArgumentsHost,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  HttpException,
  Injectable,
  Module,
  Param,
  Post,
  Req,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import {
  concurrency,
  type Decision,
  fixedWindow,
  memoryStore,
  type Store,
  StoreUnavailableError,
} from '@sluice/core';
import { RateLimitGuard, SluiceModule } from '@sluice/nestjs';
import { serve } from './serve.legacy.js';
import { Free, One, OtherModule } from './shared-guard.legacy.js';

const policy = fixedWindow({ limit: 1, window: '1h' });
const limitType = 'METHOD';
const headers = (context: ExecutionContext) => context.switchToHttp().getRequest().headers;

const unreachable = (): Store =>
  Object.assign(Object.create(memoryStore()), {
    remote: true,
    decide: async () => {
      throw new StoreUnavailableError('redis at secret.internal:6379 is away');
    },
  });

@Injectable()
class Login implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    context.switchToHttp().getRequest().user = { id: headers(context)['x-user'] };
    context.switchToHttp().getResponse().header('RateLimit-Policy', '"cdn";q=9;w=9');
    return true;
  }
}

@Catch(HttpException)
class OwnFilter implements ExceptionFilter {
  catch(exception: HttpException, host: ArgumentsHost): void {
    const status = exception.getStatus();
    host.switchToHttp().getResponse().status(status).send({ own: exception.getResponse() });
  }
}

const notes: string[] = [];
let served = 0;
let finish: (() => void) | undefined;

@Controller('guards')
class Guards {
  @Post('login')
  @UseGuards(
    RateLimitGuard({ name: 'login', policy: fixedWindow({ limit: 2, window: '1h' }), key: '#{body.email}' }),
  )
  login(@Req() request: { rateLimit: Decision }): string {
    return `${request.rateLimit.remaining} left`;
  }

  @Get('user')
  @UseGuards(Login, RateLimitGuard({ name: 'user', policy, limitType: 'USER' }))
  user(): string {
    return 'passed';
  }

  @Get('skip')
  @UseGuards(
    RateLimitGuard({ name: 'skip', policy, limitType, skip: (context) => headers(context)['x-job'] === '1' }),
  )
  skip(): string {
    return 'passed';
  }

  @Get('denied')
  @UseGuards(
    RateLimitGuard({ name: 'denied', policy, limitType, denyList: (context) => 'x-bad' in headers(context) }),
  )
  denied(): string {
    return 'passed';
  }

  @Get('text')
  @UseGuards(RateLimitGuard({ name: 'text', policy, limitType, message: 'later', statusCode: 503 }))
  text(): string {
    return 'passed';
  }

  @Get('object')
  @UseGuards(
    RateLimitGuard({
      name: 'object',
      policy,
      limitType,
      message: (context: ExecutionContext, { limit }: Decision) => ({
        handler: context.getHandler().name,
        limit,
      }),
      onLimited: (context, decision) => notes.push(`${context.getClass().name} ${decision.name}`),
    }),
  )
  object(): string {
    return 'passed';
  }

  @Get('notes')
  notes(): string[] {
    return notes;
  }

  @Get('thrown')
  @UseGuards(RateLimitGuard({ name: 'thrown', policy, limitType, throw: true }))
  thrown(): string {
    return 'passed';
  }

  @Get('filtered')
  @UseFilters(OwnFilter)
  @UseGuards(RateLimitGuard({ name: 'filtered', policy, limitType }))
  filtered(): string {
    return 'passed';
  }

  @Get('failures/:status')
  @UseGuards(RateLimitGuard({ name: 'failures', policy, limitType, skipSuccessfulRequests: true }))
  failures(@Param('status') status: string): string {
    if (status !== '200') throw new HttpException('as you like', Number(status));
    return 'passed';
  }

  @Get('held')
  @UseGuards(RateLimitGuard({ name: 'held', policy: concurrency({ limit: 1, lease: '1h' }), limitType }))
  async held(): Promise<string> {
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    return 'passed';
  }

  @Get('holding')
  holding(): boolean {
    return finish !== undefined;
  }

  @Post('finish')
  finish(): void {
    finish?.();
  }

  @Get('waits')
  @UseGuards(
    RateLimitGuard({
      name: 'waits',
      policy: fixedWindow({ limit: 1, window: 300 }),
      limitType,
      timeout: '1m',
    }),
  )
  waits(): string {
    return 'passed';
  }

  @Get('long')
  @UseGuards(RateLimitGuard({ name: 'long', policy, limitType, timeout: '2h' }))
  long(): void {
    served += 1;
  }

  @Get('served')
  served(): number {
    return served;
  }

  @Get('unreachable')
  @UseGuards(RateLimitGuard({ name: 'unreachable', policy, store: unreachable() }))
  unreachable(): string {
    return 'passed';
  }
}

@Module({
  imports: [
    OtherModule,
    ...(process.env.MODULE === 'with' ? [SluiceModule.forRoot({ store: memoryStore() })] : []),
  ],
  controllers: [Guards, One, Free],
})
class AppModule {}

await serve(AppModule);
