import { LRUCache } from 'lru-cache';
import type { CheckedChain } from '../http/chain/compile.ts';
import { GatewayError } from '../../plugin/index.ts';
import type { Capabilities, GatewayContext, NamedChain } from '../kernel/index.ts';
import type { ChainBuilder, ListedPlugin } from './chain-builder.ts';
import type { PluginResources } from './plugin-resources.ts';

/** A compiled chain of a `plugins` list, with its plugins and their places for explain. */
export interface ListedChain extends NamedChain {
  readonly plugins: readonly ListedPlugin[];
}

/** Distinct lists whose plugins are kept. A caller can send any number of lists, with different options in each. */
const KEPT_LISTS = 64;

/** The plugins of one level in a `plugins` list, checked in their place. */
export interface CheckedList {
  readonly id: string;
  readonly pluginNames: ReadonlySet<string>;
  readonly file: string;
  readonly granted: Partial<Capabilities>;
  readonly chain: CheckedChain;
}

/** The created plugins of a list, and the number of requests that use them. */
interface Live {
  readonly made: Promise<ListedChain>;
  readonly resources: PluginResources;
  users: number;
  isDropped: boolean;
}

/** Chains of inline configs, created at their first use and released after their last, once others take their place. */
export class RequestedChains {
  readonly #builder: ChainBuilder;
  readonly #live = new LRUCache<string, Live>({ max: KEPT_LISTS, dispose: (live) => this.#drop(live) });

  constructor(builder: ChainBuilder) {
    this.#builder = builder;
  }

  /** A chain whose plugins may not have been created. It has those of its last request. */
  chain(list: CheckedList): ListedChain {
    const { id, pluginNames } = list;
    const use = (ctx: GatewayContext): Promise<ListedChain> => this.#use(list, ctx);
    let plugins: readonly ListedPlugin[] = [];
    return {
      id,
      pluginNames,
      get plugins() {
        return plugins;
      },
      async run(ctx: GatewayContext) {
        const made = await use(ctx);
        ({ plugins } = made);
        await made.run(ctx);
      },
    };
  }

  /** The chain, held until the exchange ends. */
  async #use(list: CheckedList, { exchange }: GatewayContext): Promise<ListedChain> {
    let live = this.#live.get(list.id);
    if (!live) this.#live.set(list.id, (live = this.#create(list)));
    const used = live;
    used.users += 1;
    exchange.onEnd(() => {
      used.users -= 1;
      this.#releaseUnused(used);
    });
    try {
      return await used.made;
    } catch (error) {
      // The next request tries again.
      if (this.#live.peek(list.id) === used) this.#live.delete(list.id);
      const header = exchange.request.headerName('config');
      throw new GatewayError('invalid_config', `The plugins of ${header} cannot start.`, { cause: error });
    }
  }

  #create(list: CheckedList): Live {
    const resources = this.#builder.newResources();
    const made = this.#make(list, resources);
    made.catch(() => {});
    return { made, resources, users: 0, isDropped: false };
  }

  async #make(list: CheckedList, resources: PluginResources): Promise<ListedChain> {
    const { id, pluginNames, file, granted, chain } = list;
    const plugins: ListedPlugin[] = [];
    const mistakes: string[] = [];
    const report = ({ message }: { readonly message: string }): void => void mistakes.push(message);
    const made = await this.#builder.create(
      { ...chain, source: { ...chain.source, report } },
      { file, granted, resources, onPlugin: (place) => void plugins.push(place) },
    );
    if (made) return { id, pluginNames, run: made.run, plugins };
    // The reason may quote a file or an address, so the caller does not get it.
    this.#builder.log.error({ mistakes }, 'the plugins of an inline config cannot start');
    throw new Error(mistakes.join('; '));
  }

  #drop(live: Live): void {
    live.isDropped = true;
    this.#releaseUnused(live);
  }

  #releaseUnused(live: Live): void {
    if (live.isDropped && live.users === 0) void this.#builder.release(live.resources);
  }
}
