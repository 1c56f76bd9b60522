import type { CustomTool, FunctionTool, Tool } from '../conversation.ts';

/** The length of a name that every API takes. */
const MAX_LENGTH = 64;

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
    const joined = `${namespace}__${name}`.replace(/[^A-Za-z0-9_-]/g, '_');
    const flat =
      joined.length <= MAX_LENGTH && !this.#taken.has(joined)
        ? joined
        : `${joined.slice(0, MAX_LENGTH - 9)}_${digest(key)}`;
    this.#names.set(key, flat);
    this.#taken.add(flat);
    return flat;
  }
}

/** FNV-1a of 32 bits. */
function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
