import { Converter, PageEvent, ReflectionKind } from 'typedoc';

/** What TypeDoc calls a parameter that is taken apart where it is declared. */
const NAMELESS = '__namedParameters';

/** A name that another package also exports: an anchor, a heading and one line. */
const REEXPORT = /^(<a id="[^"]+"><\/a>)\n+## (.+)\n+(?:Renames and re|Re)-exports \[(.+?)\]\((.+?)\)\n*/gm;

/** Makes the pages shorter and easier to read. */
export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    for (const parameter of project.getReflectionsByKind(ReflectionKind.Parameter)) {
      if (parameter.name === NAMELESS) parameter.name = nameOf(parameter.type);
    }
  });
  app.renderer.on(PageEvent.END, (page) => {
    page.contents = listed(
      page.contents
        // VitePress draws a line above each heading of the second level.
        .replace(/^\*\*\*\n+/gm, '')
        // A parameter without a description.
        .replace(/ - (?=\|)/g, '  '),
    );
  });
}

/** `options` for `PrefetchOptions`, `part` for `Pick<Part, …>`. */
function nameOf(type) {
  const name = type.name === 'Pick' ? type.typeArguments[0].name : type.name;
  if (name === undefined || name.endsWith('Options')) return 'options';
  return name[0].toLowerCase() + name.slice(1);
}

/** Names that another package also exports, as one list at the end. */
function listed(text) {
  const links = [];
  const rest = text.replace(REEXPORT, (_, anchor, name, target, link) => {
    links.push(`- ${anchor}[\`${name}\`](${link})${name === target ? '' : `, which is \`${target}\``}`);
    return '';
  });
  return links.length === 0 ? text : `${rest.trimEnd()}\n\n## Also exported\n\n${links.join('\n')}\n`;
}
