import type { ResolvedTarget } from '../kernel/index.ts';
import type { Location, ModelCall } from '../providers/provider.ts';
import { type CatalogEntry, knownInlineThinkers } from './catalog.ts';
import { mostUsage } from './model-table/model-table.ts';

/** The place of a model within an entry depends on these. */
export interface PlaceKey extends ModelCall {
  readonly model: string;
}

export interface Located {
  readonly location: Location;
  /** The upstream counts no tokens, and the entry lets the gateway estimate them. */
  readonly estimates: boolean;
}

/** Plugins receive targets, and an entry gives access to credentials: the sender alone reads it. */
const sources = new WeakMap<ResolvedTarget, { readonly entry: CatalogEntry; readonly location: Location }>();

/** The entry of a target; undefined for an object that no resolver created (such as a copy). */
export const entryOf = (target: ResolvedTarget): CatalogEntry | undefined => sources.get(target)?.entry;

export const codecOf = (target: ResolvedTarget): Location['codec'] => sources.get(target)?.location.codec;

export const quirksOf = (target: ResolvedTarget): Location['quirks'] => sources.get(target)?.location.quirks;

/** @param name the caller's name of the model within the entry */
export function createTarget(
  entry: CatalogEntry,
  { location, estimates }: Located,
  { label, name }: { readonly label: string; readonly name: string },
): ResolvedTarget {
  const { provider } = entry;
  // Requests share it.
  const target: ResolvedTarget = Object.freeze({
    slug: provider.slug,
    provider: provider.provider,
    semconvName: provider.semconvName,
    model: location.model,
    modelLabel: label,
    region: /\/locations\/([a-z0-9-]+)\//.exec(location.path)?.[1],
    origin: location.origin,
    path: location.path,
    headers: location.headers,
    format: location.format,
    formatReason: location.formatReason,
    host: location.host,
    streamUsage: location.streamUsage,
    modelInBody: location.modelInBody,
    extensions: location.extensions,
    customTools: location.customTools,
    takesUnknownIds: (location.takesUnknownIds ?? false) || provider.usesCallersToken,
    signatureScope: location.signatureScope,
    structuredOutputs: location.structuredOutputs,
    inlineThinking:
      location.format === 'openai-chat' ? (entry.inlineThinking ?? knownInlineThinkers).has(name) : undefined,
    mostUsage: mostUsage(provider.provider, location.model),
    estimatesTokens: estimates,
    customHost: provider.chosenByCaller ? new URL(location.origin).host : undefined,
    adHoc: provider.adHoc,
    usesCallersToken: provider.usesCallersToken,
    timeouts: entry.timeouts,
    defaultMaxTokens: entry.defaultMaxTokens,
  });
  sources.set(target, { entry, location });
  return target;
}

/** The place of a model at its provider, and the target that all requests to this place share. */
export class KnownPlace {
  readonly key: PlaceKey;
  readonly located: Located;
  /** The value that `locatesBy` of the provider returned for this place. While it returns the same, the place is valid. */
  readonly locatedBy: object | undefined;
  readonly #entry: CatalogEntry;
  #target: ResolvedTarget | undefined;

  constructor(entry: CatalogEntry, key: PlaceKey, located: Located) {
    this.#entry = entry;
    this.key = key;
    this.located = located;
    this.locatedBy = entry.provider.locatesBy?.();
  }

  /** @param label the model's name in metrics. A new label makes a new target. */
  target(label: string): ResolvedTarget {
    if (this.#target?.modelLabel === label) return this.#target;
    return (this.#target = createTarget(this.#entry, this.located, { label, name: this.key.model }));
  }
}

/** The largest number of models that are kept for one entry: callers choose the names. When it is reached, all are dropped. */
const MAX_MODELS = 200;

/** Places by entry and model. They are kept because nearly all requests name one of a few models. */
export class KnownPlaces {
  readonly #byEntry = new WeakMap<CatalogEntry, Map<string, KnownPlace[]>>();

  /** @param locate may throw; its errors are not kept */
  of(entry: CatalogEntry, key: PlaceKey, locate: (entry: CatalogEntry, key: PlaceKey) => Located): KnownPlace {
    let byModel = this.#byEntry.get(entry);
    if (!byModel) this.#byEntry.set(entry, (byModel = new Map<string, KnownPlace[]>()));
    const places = byModel.get(key.model) ?? [];
    const { task, stream, client, tools, compacts, form } = key;
    const at = places.findIndex(
      ({ key: one }) =>
        one.task === task &&
        one.stream === stream &&
        one.client === client &&
        one.tools === tools &&
        one.compacts === compacts &&
        one.form === form,
    );
    const known = places[at];
    if (known && known.locatedBy === entry.provider.locatesBy?.()) return known;
    const place = new KnownPlace(entry, key, locate(entry, key));
    if (known) places[at] = place;
    else places.push(place);
    if (byModel.size >= MAX_MODELS && !byModel.has(key.model)) byModel.clear();
    byModel.set(key.model, places);
    return place;
  }
}
