/** Sends text messages. */
export interface SmsGateway {
  /** @throws if the gateway does not take the message */
  send(phone: string, text: string): Promise<void>;
}

/** Prints messages instead of sending them. Fails for numbers that end with 000. */
export const printingGateway: SmsGateway = {
  async send(phone, text) {
    if (phone.endsWith('000')) throw new Error('the gateway did not take the message');
    console.log(`to ${phone}: ${text}`);
  },
};
