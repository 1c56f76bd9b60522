import type { Plugin } from '../../kernel/index.ts';

export interface RegisteredPlugin {
  readonly plugin: Plugin;
  readonly builtin: boolean;
}

/** The plugins that settings may name. Names are unique: an external plugin cannot replace a built-in one. */
export class PluginRegistry {
  readonly #plugins = new Map<string, RegisteredPlugin>();

  constructor(builtins: readonly Plugin[]) {
    for (const plugin of builtins) this.#plugins.set(plugin.name, { plugin, builtin: true });
  }

  /** Creates a registry with external plugins added. Names that are already taken are returned instead. */
  extend(plugins: readonly Plugin[]): { registry: PluginRegistry; taken: readonly string[] } {
    const registry = new PluginRegistry([]);
    for (const [name, entry] of this.#plugins) registry.#plugins.set(name, entry);
    const taken: string[] = [];
    for (const plugin of plugins) {
      if (registry.#plugins.has(plugin.name)) taken.push(plugin.name);
      else registry.#plugins.set(plugin.name, { plugin, builtin: false });
    }
    return { registry, taken };
  }

  get(name: string): RegisteredPlugin | undefined {
    return this.#plugins.get(name);
  }

  get names(): readonly string[] {
    return [...this.#plugins.keys()];
  }
}
