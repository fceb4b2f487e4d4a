import { Module } from '@nestjs/common';
import { type Duration, fixedWindow, memoryStore, redisStore } from '@sluice/core';
import { SluiceModule } from '@sluice/nestjs';
import { AccountController } from './account.controller.legacy.js';
import { GatewayService } from './gateway.service.legacy.js';
import { SmsController } from './sms.controller.legacy.js';

const { REDIS_URL, DEADLINE = '100ms' } = process.env;

@Module({
  imports: [
    SluiceModule.forRoot({
      store: REDIS_URL ? redisStore(REDIS_URL) : memoryStore(),
      deadline: DEADLINE as Duration,
      limit: { policy: fixedWindow({ limit: 100, window: '1m' }) }, // for each client address
    }),
  ],
  controllers: [SmsController, AccountController],
  providers: [GatewayService],
})
export class AppModule {}
