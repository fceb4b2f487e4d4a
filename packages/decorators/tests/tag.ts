import 'reflect-metadata';

/** Puts a property and metadata on a method below our decorators, as frameworks do. In both dialects. */
// biome-ignore lint/suspicious/noExplicitAny: one function for two dialects
export function tag(target: any, _where: unknown, descriptor?: PropertyDescriptor): any {
  const method = descriptor?.value ?? target;
  method.tag = 'own';
  Reflect.defineMetadata('route', '/tagged', method);
}
