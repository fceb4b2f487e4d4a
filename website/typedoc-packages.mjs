import { readFileSync } from 'node:fs';
import { Converter, DeclarationReflection, PageEvent, ReflectionKind } from 'typedoc';
import { orderOf, PACKAGES, TASKS } from './typedoc-tasks.mjs';

/** Groups the names of each package by what they are for: a page for each task, and a list of them for the package. */
export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.children ?? []) {
      // TypeDoc names a module after its file, `core/src`. Here the folder of the package is its name.
      module.name = module.name.replace(/\/src$/, '');
      if (TASKS[module.name] !== undefined) divide(module, project);
    }
  });
  app.renderer.on(PageEvent.END, (page) => {
    const { model } = page;
    if (model.isProject()) {
      page.contents = `# API\n\n${packagesOf(model, app.renderer.router)}\n`;
      return;
    }
    const [, ...body] = page.contents.split('\n');
    const tasks = model.children?.filter((child) => child.kindOf(ReflectionKind.Module)) ?? [];
    const { router } = app.renderer;
    const text =
      tasks.length > 0
        ? listOf(model, tasks, router)
        : // TypeDoc writes the anchor of a heading before it. VitePress takes it as the heading's own.
          body
            .join('\n')
            .trim()
            .replace(/^<a id="([^"]+)"><\/a>\n+(#+ .*)$/gm, '$2 {#$1}');
    page.contents = `---\norder: ${orderOf(model.name)}\noutline: 2\npageClass: api\n---\n\n# ${titleOf(model)}\n\n${text}\n`;
  });
}

/** The packages by what they are for, with the descriptions that npm shows. */
function packagesOf(project, router) {
  const modules = new Map(project.children.map((module) => [module.name, module]));
  const lists = PACKAGES.map(([title, names]) => {
    const lines = names.map((name) => {
      const module = modules.get(name);
      modules.delete(name);
      const { description } = JSON.parse(
        readFileSync(new URL(`../packages/${name}/package.json`, import.meta.url), 'utf8'),
      );
      return `- [@sluice/${name}](${router.relativeUrl(project, module)}): ${description}`;
    });
    return `## ${title}\n\n${lines.join('\n')}`;
  });
  const missing = [...modules.keys()];
  if (missing.length > 0)
    throw new Error(`PACKAGES of website/typedoc-tasks.mjs lacks ${missing.join(', ')}`);
  return lists.join('\n\n');
}

/** Moves the names of a package into a module for each task. */
function divide(module, project) {
  const pages = new Map();
  for (const child of [...module.children]) {
    const path = project.getSymbolIdFromReflection(child)?.packagePath.replace(/^src\//, '');
    const task = TASKS[module.name].find(([, , files]) => path !== undefined && files.test(path));
    if (task === undefined) {
      throw new Error(`${child.name} of ${module.name} (${path}) has no task: see website/typedoc-tasks.mjs`);
    }
    const page = pages.get(task) ?? new DeclarationReflection(task[0], ReflectionKind.Module, module);
    pages.set(task, page);
    module.removeChild(child);
    child.parent = page;
    page.addChild(child);
  }
  for (const page of pages.values()) {
    module.addChild(page);
    project.registerReflection(page, undefined, undefined);
  }
}

function titleOf({ name, parent }) {
  const task = TASKS[parent?.name]?.find(([page]) => page === name);
  return task === undefined ? `@sluice/${name}` : task[1];
}

const IS_VALUE = ReflectionKind.Class | ReflectionKind.Function | ReflectionKind.Variable;

/** The tasks of a package with their names, values before types. */
function listOf(module, tasks, router) {
  const link = (name) => `[${name.name}](${router.relativeUrl(module, name)})`;
  return tasks
    .sort((a, b) => orderOf(a.name) - orderOf(b.name))
    .map((task) => {
      const values = task.children.filter((name) => name.kindOf(IS_VALUE));
      const types = task.children.filter((name) => !name.kindOf(IS_VALUE));
      const lines = [
        values.map(link).join(', '),
        types.length > 0 ? `Types: ${types.map(link).join(', ')}` : '',
      ];
      return `## ${titleOf(task)}\n\n${lines.filter((line) => line !== '').join('\n\n')}`;
    })
    .join('\n\n');
}
