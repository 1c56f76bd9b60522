import { inspect, types } from 'node:util';

/** Maximum length, in characters, of a thrown value that is shown. */
const MAX_SHOWN = 200;

/** `instanceof` runs the traps of a Proxy, which may throw. */
export const isError = (thrown: unknown): thrown is Error => !types.isProxy(thrown) && thrown instanceof Error;

/** Calls a function of a plugin. An async one returns a promise, whatever its type says. */
export function contain(call: () => unknown, onThrown: (thrown: unknown) => void): void {
  try {
    const result = call();
    if (result instanceof Promise) result.catch(onThrown);
  } catch (thrown) {
    onThrown(thrown);
  }
}

/** Runs no code of the value. */
export function show(thrown: unknown): string {
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

/** A thrown value as an Error, for code that takes nothing else. */
export const toError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));
