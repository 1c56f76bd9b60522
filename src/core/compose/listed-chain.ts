import type { Chain } from '../http/chain/instance.ts';
import type { NamedChain } from '../kernel/index.ts';
import type { ListedPlugin } from './chain-builder.ts';

/** A compiled chain of a `plugins` list, with its plugins and their places for explain. */
export class ListedChain implements NamedChain {
  readonly id: string;
  readonly pluginNames: ReadonlySet<string>;
  readonly run: Chain;
  readonly plugins: readonly ListedPlugin[];

  constructor({ id, pluginNames }: Omit<NamedChain, 'run'>, run: Chain, plugins: readonly ListedPlugin[]) {
    this.id = id;
    this.pluginNames = pluginNames;
    this.run = run;
    this.plugins = plugins;
  }
}
