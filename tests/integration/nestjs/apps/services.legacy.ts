import {
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  type PipeTransform,
  Post,
  Query,
  UseGuards,
} from '@nestjs/common';
import { isRateLimitExceededError } from '@sluice/core';
import { CountLimit } from '@sluice/decorators';

@Injectable()
export class Gateway {
  @CountLimit({ limit: 1, period: 3600, limitType: 'IP' })
  async perAddress(): Promise<string> {
    return 'passed';
  }

  @CountLimit({ limit: 1, period: 3600, limitType: 'USER' })
  async perUser(): Promise<string> {
    return 'passed';
  }

  @CountLimit({ key: '#{body.phone}:#{params.id}', limit: 1, period: 3600, limitType: 'CUSTOM' })
  async perField(): Promise<string> {
    return 'passed';
  }

  @CountLimit({ key: '#{path}', limit: 1, period: 3600, limitType: 'CUSTOM' })
  async perPath(): Promise<string> {
    return 'passed';
  }
}

@Injectable()
export class Login implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest();
    const id = request.headers['x-user'];
    if (id !== undefined) request.user = { id };
    return id !== 'banned';
  }
}

/** Calls the service before the handler, in a guard and in a pipe. */
@Injectable()
class AskInGuard implements CanActivate {
  constructor(readonly gateway: Gateway) {}

  async canActivate(): Promise<boolean> {
    return (await this.gateway.perAddress()) === 'passed';
  }
}

@Injectable()
class AskInPipe implements PipeTransform {
  constructor(readonly gateway: Gateway) {}

  transform(): Promise<string> {
    return this.gateway.perUser();
  }
}

@Controller('service')
@UseGuards(Login)
export class Service {
  constructor(readonly gateway: Gateway) {}

  @Get('ip')
  ip(): Promise<string> {
    return this.gateway.perAddress();
  }

  @Get('user')
  user(): Promise<string> {
    return this.gateway.perUser();
  }

  @Post('field/:id')
  field(@Body() _body: object): Promise<string> {
    return this.gateway.perField();
  }

  @Get('path/:any')
  path(): Promise<string> {
    return this.gateway.perPath();
  }

  @Get('in-guard')
  @UseGuards(AskInGuard)
  inGuard(): string {
    return 'passed';
  }

  @Get('in-pipe')
  inPipe(@Query('any', AskInPipe) any: string): string {
    return any;
  }

  @Get('caught')
  async caught(): Promise<string> {
    try {
      return await this.gateway.perAddress();
    } catch (error) {
      return isRateLimitExceededError(error) ? `left alone: ${error.decision.remaining}` : 'what?';
    }
  }
}
