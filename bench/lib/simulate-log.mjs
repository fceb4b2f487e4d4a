const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (number) => String(number).padStart(2, '0');
const START = Date.UTC(2026, 10, 22);

/** A combined log: fifty requests a second of 20,000 users, a few of whom send much more than the others. */
export function* logLines(count) {
  let seed = 1;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  for (let i = 0; i < count; i += 1) {
    const at = new Date(START + i * 20);
    const date = `${two(at.getUTCDate())}/${MONTHS[at.getUTCMonth()]}/${at.getUTCFullYear()}`;
    const time = [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()].map(two).join(':');
    const user = Math.floor(20_000 * random() ** 3);
    yield `10.${(user >> 8) & 255}.${user & 255}.7 - user${user} [${date}:${time} +0000] ` +
      `"GET /v1/items/${i % 977}?page=${i % 7} HTTP/1.1" 200 512 "https://shop.example/" "Mozilla/5.0 (X11; Linux x86_64)"\n`;
  }
}
