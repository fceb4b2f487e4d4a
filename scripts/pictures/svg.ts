/** No grey has a contrast of 4.5 on both white and black pages, so text has one for each. */
const TEXT = { light: '#656d76', dark: '#9198a1' } as const;
/** Middle tones, visible on white and on black pages. */
export const GRID = '#8b949e';
export const BLUE = '#2579e0';
export const GREEN = '#2f9e62';
export const ORANGE = '#cc6a1a';

export const short = (value: number): string => String(Math.round(value * 10) / 10);

export const picture = (
  width: number,
  height: number,
  title: string,
  elements: readonly string[],
): string => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="12" fill="${TEXT.light}">
<title>${title}</title>
<style>@media (prefers-color-scheme: dark) { svg { fill: ${TEXT.dark} } }</style>
${elements.join('\n')}
</svg>
`;

export const text = (left: number, base: number, content: string, more = ''): string =>
  `<text x="${short(left)}" y="${short(base)}"${more === '' ? '' : ` ${more}`}>${content}</text>`;

export const line = (colour: string, path: string, more = ''): string =>
  `<path d="${path}" fill="none" stroke="${colour}"${more === '' ? '' : ` ${more}`}/>`;
