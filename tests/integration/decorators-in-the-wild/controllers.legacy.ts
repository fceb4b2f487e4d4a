import 'reflect-metadata';
import { slidingLog } from '@sluice/core';
import { CountLimit, Limit, RateLimit, SkipLimit } from '@sluice/decorators';
import { IsEmail } from 'class-validator';
import {
  type Action,
  Body,
  Delete,
  Get,
  type InterceptorInterface,
  JsonController,
  NotFoundError,
  Param,
  Post,
  QueryParam,
  UseInterceptor,
} from 'routing-controllers';

/** The handlers that ran, in order. */
export const runs: string[] = [];

class Envelope implements InterceptorInterface {
  intercept(_action: Action, result: unknown) {
    runs.push('interceptor');
    return { data: result };
  }
}

class Letter {
  @IsEmail()
  to!: string;
}

@JsonController('/orders')
export class OrderController {
  @CountLimit({ period: 60 })
  @Get('/above')
  async above(@QueryParam('page') page: number) {
    runs.push('above');
    return { page };
  }

  @Get('/below')
  @CountLimit({ period: 60 })
  async below(@QueryParam('page') page: number) {
    runs.push('below');
    return { page };
  }

  @RateLimit({ rate: 1 / 60, burst: 60, key: '#{id}', limitType: 'CUSTOM' })
  @Get('/number/:id')
  async byParameter(@Param('id') id: number) {
    if (id === 404) throw new NotFoundError('no such order');
    return { id };
  }

  @CountLimit({ key: '#{phone}', limit: 1, period: 60, limitType: 'CUSTOM' })
  @Delete('/code/:phone')
  @CountLimit({ key: '#{phone}', limit: 10, period: 86_400, prefix: 'codes-a-day', limitType: 'CUSTOM' })
  async stacked(@Param('phone') phone: string) {
    return { phone };
  }

  @UseInterceptor(Envelope)
  @Limit({ policy: slidingLog({ limit: 1, window: '60s' }), limitType: 'CUSTOM', key: '#{letter.to}' })
  @Post('/letters')
  async letter(@Body({ validate: true }) letter: Letter) {
    runs.push(`letter ${letter instanceof Letter}`);
    return { to: letter.to };
  }
}

@CountLimit({ limit: 2, period: 60 })
@JsonController('/above-class')
export class AboveClass {
  @Get('/list')
  list() {
    return { list: true };
  }

  @CountLimit({ period: 60 })
  @Get('/own')
  async own() {
    return { own: true };
  }

  @SkipLimit()
  @Get('/health')
  health() {
    return { health: this.status() };
  }

  @SkipLimit()
  status() {
    return 'up';
  }
}

@JsonController('/below-class')
@CountLimit({ limit: 2, period: 60 })
export class BelowClass {
  @Get('/list')
  async list() {
    return { list: true };
  }

  @Get('/other')
  async other() {
    return { other: true };
  }
}

/** A service without HTTP: a handler calls it. */
class Mail {
  @CountLimit({ period: 60, limitType: 'IP' })
  async byAddress() {
    return 'byAddress';
  }

  @CountLimit({ period: 60, limitType: 'USER' })
  async byUser() {
    return 'byUser';
  }

  @CountLimit({ period: 60, limitType: 'CUSTOM', key: '#{body.to}' })
  async byBody() {
    return 'byBody';
  }
}

@JsonController('/mail')
export class MailController {
  readonly #mail = new Mail();

  @Post('/:method')
  async send(@Param('method') method: 'byAddress' | 'byUser' | 'byBody', @Body() _body: object) {
    return { sent: await this.#mail[method]() };
  }
}

export const controllers = [OrderController, AboveClass, BelowClass, MailController];
