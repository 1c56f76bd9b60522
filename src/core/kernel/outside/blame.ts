import { isError, show } from './thrown.ts';

/** The external plugin of each error: one that catches an error must get the same object, not a wrapper. */
const plugins = new WeakMap<object, string>();

/** Replaces a thrown value that is not an Error: a string, `null`, a Proxy. Reading such a value may throw again. */
class PluginFault extends Error {
  override readonly name = 'PluginFault';
}

/** Records which plugin threw. Returns the error to rethrow: `thrown` itself, or else a PluginFault. */
export function blame(thrown: unknown, plugin: string): Error {
  const error = isError(thrown) ? thrown : new PluginFault(`plugin "${plugin}" threw ${show(thrown)}`);
  if (!plugins.has(error)) plugins.set(error, plugin);
  return error;
}

export const blamedPlugin = (thrown: unknown): string | undefined =>
  typeof thrown === 'object' && thrown !== null ? plugins.get(thrown) : undefined;
