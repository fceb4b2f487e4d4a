const marker = (name: string): RegExp =>
  new RegExp(`(<!-- generated: ${name} .*?-->\\n)(?:(?!<!--)[\\s\\S])*(<!-- end -->)`);

/**
 * The text between the markers of `name` in the text of a page.
 * @throws Error when there are none
 */
export function section(page: string, name: string): string {
  const [whole, open, close] = marker(name).exec(page) ?? [];
  if (whole === undefined)
    throw new Error(`There is no <!-- generated: ${name} … --> with an <!-- end --> after it`);
  return whole.slice(open!.length, -close!.length).trim();
}

export const withSection = (page: string, name: string, text: string): string => {
  section(page, name);
  return page.replace(marker(name), (_, open, close) => `${open}${text}\n${close}`);
};
