import type { CustomTool, FunctionTool, Tool } from '../conversation.ts';
import { aliasOf } from '../name-aliases.ts';
import { isWithin } from '../target-limits.ts';

/** A name that every API takes. */
const EVERYWHERE = { max: 64, illegal: /[^A-Za-z0-9_-]/g };

interface Named {
  readonly name: string;
  readonly namespace?: string;
}

/**
 * Names of tools for APIs without namespaces: `namespace__name`. A name that would be too long or that another tool has is cut
 * and gets a digest of both names, so that it stays the same in all requests of a conversation.
 */
export class FlatNames {
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();

  constructor(tools: readonly Tool[]) {
    const named = tools.filter((tool): tool is FunctionTool | CustomTool => tool.type !== 'builtin');
    for (const { name, namespace } of named) if (namespace === undefined) this.#taken.add(name);
    for (const tool of named) if (tool.namespace !== undefined) this.of(tool);
  }

  of({ name, namespace }: Named): string {
    if (namespace === undefined) return name;
    const key = JSON.stringify([namespace, name]);
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const joined = `${namespace}__${name}`.replace(EVERYWHERE.illegal, '_');
    const fits = isWithin(joined, EVERYWHERE) && !this.#taken.has(joined);
    const flat = fits ? joined : aliasOf(joined, EVERYWHERE, key);
    this.#names.set(key, flat);
    this.#taken.add(flat);
    return flat;
  }
}
