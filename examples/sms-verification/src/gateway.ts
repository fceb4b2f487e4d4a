/** Somebody else's system, as far as we know it. */
export interface SmsGateway {
  /** @throws when the message was not taken */
  send(phone: string, text: string): Promise<void>;
}

/** Prints messages instead of sending them; numbers that end with 000 are out of order. */
export const printingGateway: SmsGateway = {
  async send(phone, text) {
    if (phone.endsWith('000')) throw new Error('the gateway did not take the message');
    console.log(`to ${phone}: ${text}`);
  },
};
