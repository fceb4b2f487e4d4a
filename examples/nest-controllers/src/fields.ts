import { BadRequestException } from '@nestjs/common';

// All spellings of a value become one, so that each has one count. Anything else is a 400.

export function phoneOf(value: unknown): string {
  const digits = typeof value === 'string' ? value.replace(/[\s().+-]/g, '') : '';
  if (!/^\d{7,15}$/.test(digits)) throw new BadRequestException('phone must be a number such as 13800000000');
  return digits;
}

export function emailOf(value: unknown): string {
  const email = typeof value === 'string' ? value.trim().toLowerCase() : '';
  if (!/^[^\s@]{1,64}@[^\s@]{1,190}$/.test(email)) throw new BadRequestException('email must be an address');
  return email;
}
