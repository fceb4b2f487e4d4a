import {
  type ArgumentsHost,
  Body,
  type CallHandler,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  HttpCode,
  Injectable,
  Module,
  type NestInterceptor,
  Param,
  ParseIntPipe,
  Post,
  UseFilters,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { RateLimitExceededError } from '@sluice/core';
import { CountLimit, RateLimit } from '@sluice/decorators';
import { SluiceModule } from '@sluice/nestjs';
import { IsString, Length } from 'class-validator';
import { map, type Observable } from 'rxjs';
import { serve } from './serve.legacy.js';
import { Gateway, Login, Service } from './services.legacy.js';

class SmsRequest {
  @IsString()
  @Length(11, 11)
  phone!: string;
}

@Injectable()
class Upper implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((value) => String(value).toUpperCase()));
  }
}

@Catch(RateLimitExceededError)
class Teapot implements ExceptionFilter {
  catch(error: RateLimitExceededError, host: ArgumentsHost): void {
    host.switchToHttp().getResponse().status(418).send({ seconds: error.headers['Retry-After'] });
  }
}

@Controller('order')
class Order {
  constructor(readonly gateway: Gateway) {}

  @CountLimit({ key: '#{request.phone}', limit: 1, period: 3600, limitType: 'CUSTOM' })
  @Post('count-above')
  async countAbove(@Body() request: SmsRequest): Promise<string> {
    return `${request instanceof SmsRequest} ${request.phone} ${this.gateway instanceof Gateway}`;
  }

  @Post('count-below')
  @CountLimit({ key: '#{request.phone}', limit: 1, period: 3600, limitType: 'CUSTOM' })
  async countBelow(@Body() request: SmsRequest): Promise<string> {
    return `${request instanceof SmsRequest} ${request.phone} ${this.gateway instanceof Gateway}`;
  }

  @RateLimit({ key: '#{id}', rate: 0.001, burst: 1000, limitType: 'CUSTOM' })
  @Get('rate-above/:id')
  @HttpCode(202)
  async rateAbove(@Param('id', ParseIntPipe) id: number): Promise<string> {
    return `${typeof id} ${id}`;
  }

  @HttpCode(202)
  @Get('rate-below/:id')
  @RateLimit({ key: '#{id}', rate: 0.001, burst: 1000, limitType: 'CUSTOM' })
  async rateBelow(@Param('id', ParseIntPipe) id: number): Promise<string> {
    return `${typeof id} ${id}`;
  }
}

@Controller('around')
@UseGuards(Login)
class Around {
  @UseInterceptors(Upper)
  @CountLimit({ limit: 1, period: 3600, limitType: 'USER' })
  @Get('interceptor')
  async intercepted(): Promise<string> {
    return 'passed';
  }

  @CountLimit({ limit: 1, period: 3600 })
  @Get('filter')
  @UseFilters(Teapot)
  async filtered(): Promise<string> {
    return 'passed';
  }

  @CountLimit({ key: '#{query.phone}', limit: 1, period: 3600, limitType: 'CUSTOM' })
  @Get('missing')
  async missing(): Promise<string> {
    return 'passed';
  }
}

@CountLimit({ limit: 1, period: 3600 })
@Controller('whole')
class Whole {
  @Get('one')
  async one(): Promise<string> {
    return 'passed';
  }

  @Get('other/:id')
  async other(@Param('id', ParseIntPipe) id: number): Promise<string> {
    return typeof id;
  }
}

@Module({
  imports: [SluiceModule.forRoot({ ipv6Subnet: 56 })],
  controllers: [Order, Around, Whole, Service],
  providers: [Gateway],
})
class AppModule {}

await serve(AppModule, (app) => app.setGlobalPrefix('api'));
