import { Converter } from 'typedoc';

/** TypeDoc names a module after its file, `core/src`. Here the folder of the package is its name. */
export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.children ?? []) module.name = module.name.replace(/\/src$/, '');
  });
}
