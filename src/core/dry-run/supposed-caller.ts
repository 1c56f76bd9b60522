import type { Caller } from '../kernel/index.ts';
import { digestOf, digestsOf } from '../settings/compile/api-keys.ts';
import type { Settings } from '../settings/read/load.ts';
import { looksSecret } from '../settings/values/show.ts';

export class UnknownKey extends Error {
  override readonly name = 'UnknownKey';
  readonly known: readonly string[];
  /** The given id in printable form: the user may have given the key itself in place of its id. */
  readonly named: string;
  constructor(id: string, { keys }: Settings['keys']) {
    const meant = keys.find((entry) => digestsOf(entry).includes(digestOf(id)));
    const named = meant !== undefined || looksSecret(id) ? 'this id' : `the id ${JSON.stringify(id)}`;
    super(`There is no key with ${named}.`);
    this.named = named;
    this.known = meant ? [meant.id] : keys.map((entry) => entry.id);
  }
}

/** It has no restrictions: the question is about the configs, not about a key's limits. */
export const ANYBODY: Caller = {
  keyId: 'any key',
  providers: undefined,
  models: undefined,
  configs: undefined,
  defaultConfig: undefined,
  inlineConfigs: true,
  inlinePlugins: true,
  customHosts: undefined,
};
