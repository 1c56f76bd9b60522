import { GatewayError, type Clock } from '../../plugin/index.ts';
import type { PluginState } from '../../plugin/services.ts';
import { MAX_CLAIM_TEXT, OF_PLUGINS, type Claim, type ClaimWish } from '../ports/claims.ts';
import { StateFailure } from '../ports/failures.ts';
import { storeUnavailable } from '../ports/store-handle.ts';

const HOLDER = 'plugin';
const NAME = /^[\w.:@/-]+$/;
/** Characters of the name of a claim. */
const MAX_NAME = 128;
const DAY_MS = 86_400_000;
const TTL_MS = { standard: 30 * DAY_MS, most: 366 * DAY_MS };
/** No request waits longer for the store. */
const LIMIT_MS = 1_000;
/** Calls of one plugin that the store has not answered: it also counts budgets, for which all requests wait. */
const MAX_WAITING = 64;

export type StateText = Pick<Claim, 'text'>;

/** The claims of a state store, or texts in memory. */
export interface StateTexts {
  take(wish: ClaimWish): Promise<unknown>;
  find(name: string): Promise<StateText | undefined>;
  end(name: string): Promise<unknown>;
}

interface StateTools {
  /** Its name in the settings, and whether it declares `state: true`. */
  readonly plugin: { readonly instance: string; readonly keeps: boolean | undefined };
  readonly clock: Pick<Clock, 'after'>;
  /** Undefined while the state store does not answer. */
  readonly texts: () => StateTexts | undefined;
}

/** The values of one plugin: claims with their JSON as the text. Each process has the same holder, so the last value counts. */
export function pluginState({ plugin: { instance, keeps }, clock, texts }: StateTools): PluginState {
  let waiting = 0;
  // A name has no space, so no two plugins have equal ones.
  const prefix = `${OF_PLUGINS}${instance} `;
  const longest = MAX_NAME - prefix.length;
  const nameOf = (own: string): string => {
    if (keeps !== true) throw new TypeError(`the plugin "${instance}" does not declare \`state: true\``);
    if (NAME.test(own) && own.length <= longest) return prefix + own;
    throw new TypeError(`host.state: "${own}" is no name: at most ${longest} letters, digits and _.:@/-`);
  };
  const ask = async <T>(question: (store: StateTexts) => Promise<T>): Promise<T> => {
    const store = texts();
    const { promise: late, reject } = Promise.withResolvers<never>();
    const stop = clock.after(LIMIT_MS, () => reject(storeUnavailable()));
    try {
      if (!store || waiting >= MAX_WAITING) throw storeUnavailable();
      waiting += 1;
      const asked = Promise.resolve(store).then(question);
      return await Promise.race([asked.finally(() => void (waiting -= 1)), late]);
    } catch (cause) {
      if (!(cause instanceof StateFailure)) throw cause;
      const message = `The state store, which a plugin asks, failed (${cause.code}).`;
      throw new GatewayError('plugin_call_failed', message, { cause, plugin: instance });
    } finally {
      stop();
    }
  };
  return {
    async get(own) {
      const name = nameOf(own);
      const found = await ask((store) => store.find(name));
      return found && (JSON.parse(found.text) as unknown);
    },
    async set(own, value, ttl = TTL_MS.standard) {
      const wish = { name: nameOf(own), holder: HOLDER, text: JSON.stringify(value) ?? '', ms: ttl };
      if (wish.text === '' || wish.text.length > MAX_CLAIM_TEXT)
        throw new TypeError(`host.state: the value of "${own}" is no JSON of at most ${MAX_CLAIM_TEXT} characters`);
      if (!Number.isInteger(ttl) || ttl < 1 || ttl > TTL_MS.most)
        throw new RangeError(`host.state: ${ttl} is no whole number from 1 to ${TTL_MS.most}`);
      await ask((store) => store.take(wish));
    },
    async delete(own) {
      const name = nameOf(own);
      await ask((store) => store.end(name));
    },
  };
}
