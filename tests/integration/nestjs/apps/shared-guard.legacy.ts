import { Controller, Get, Module, UseGuards } from '@nestjs/common';
import { fixedWindow } from '@sluice/core';
import { SkipLimit } from '@sluice/decorators';
import { RateLimitGuard } from '@sluice/nestjs';

const Shared = RateLimitGuard({
  name: 'shared',
  policy: fixedWindow({ limit: 2, window: '1h' }),
  limitType: 'METHOD',
});

@Controller('shared')
@UseGuards(Shared)
export class One {
  @Get('one')
  one(): string {
    return 'passed';
  }

  @SkipLimit()
  @Get('free')
  free(): string {
    return 'passed';
  }
}

@SkipLimit()
@UseGuards(Shared)
@Controller('free')
export class Free {
  @Get()
  get(): string {
    return 'passed';
  }
}

@Controller('shared')
@UseGuards(Shared)
class Other {
  @Get('other')
  other(): string {
    return 'passed';
  }
}

@Module({ controllers: [Other] })
export class OtherModule {}
