import { inspect, types } from 'node:util';

/**
 * The external plugin that threw each error. A map beside the errors, because a plugin that catches an error must get
 * the same object, not a wrapper.
 */
const plugins = new WeakMap<object, string>();

/** Replaces a thrown value that is not an Error: a string, `null`, a Proxy. Reading such a value may throw again. */
export class PluginFault extends Error {
  override readonly name = 'PluginFault';
}

/** Maximum length, in characters, of a thrown value shown in a PluginFault's message. */
const MAX_SHOWN = 200;

/**
 * Records which plugin threw. Returns the error to rethrow: `thrown` itself when it is an Error, else a PluginFault.
 */
export function blame(thrown: unknown, plugin: string): Error {
  const error = isError(thrown) ? thrown : new PluginFault(`plugin "${plugin}" threw ${show(thrown)}`);
  if (!plugins.has(error)) plugins.set(error, plugin);
  return error;
}

export const blamedPlugin = (thrown: unknown): string | undefined =>
  typeof thrown === 'object' && thrown !== null ? plugins.get(thrown) : undefined;

/** `instanceof` runs the traps of a Proxy, which may throw. */
export const isError = (thrown: unknown): thrown is Error => !types.isProxy(thrown) && thrown instanceof Error;

function show(thrown: unknown): string {
  if (types.isProxy(thrown)) return 'a Proxy';
  if (typeof thrown === 'string') return JSON.stringify(thrown.slice(0, MAX_SHOWN));
  try {
    // Getters and custom inspection of the value do not run.
    return inspect(thrown, { depth: 0, customInspect: false, getters: false, maxArrayLength: 5 }).slice(0, MAX_SHOWN);
  } catch {
    return `a value of type ${typeof thrown}`;
  }
}

/** Maximum length, in characters, of an error's message in a diagnostic. */
const MAX_MESSAGE = 1000;

/** The message of anything that was thrown. A getter of an error may throw as well. */
export function messageOf(thrown: unknown): string {
  if (!isError(thrown)) return `it threw ${show(thrown)}`;
  try {
    // A plugin may have set `message` to a value of any type.
    const message: unknown = thrown.message;
    return typeof message === 'string' ? message.slice(0, MAX_MESSAGE) : show(message);
  } catch {
    return 'its error has no readable message';
  }
}
