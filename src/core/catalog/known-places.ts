import type { Location, ModelCall } from '../providers/provider.ts';
import type { CatalogEntry } from './catalog.ts';
import { CatalogTarget } from './catalog-target.ts';

/** The place of a model within an entry depends on these. */
export interface PlaceKey extends ModelCall {
  readonly model: string;
}

export interface Located {
  readonly location: Location;
  /** The upstream counts no tokens, and the entry lets the gateway estimate them. */
  readonly estimates: boolean;
}

/** The place of a model at its provider, and the target that all requests to this place share. */
export class KnownPlace implements Located {
  readonly location: Location;
  readonly estimates: boolean;
  readonly key: PlaceKey;
  /** The value that `locatesBy` of the provider returned for this place. While it returns the same, the place is valid. */
  readonly locatedBy: object | undefined;
  readonly #entry: CatalogEntry;
  #target: CatalogTarget | undefined;

  constructor(entry: CatalogEntry, key: PlaceKey, { location, estimates }: Located) {
    this.#entry = entry;
    this.key = key;
    this.location = location;
    this.estimates = estimates;
    this.locatedBy = entry.provider.locatesBy?.();
  }

  /** @param label the model's name in metrics. A new label makes a new target. */
  target(label: string): CatalogTarget {
    if (this.#target?.modelLabel !== label) {
      const more = { name: this.key.model, estimates: this.estimates };
      this.#target = new CatalogTarget(this.#entry, this.location, label, more);
    }
    return this.#target;
  }
}

/**
 * The largest number of models that are kept for one entry: callers choose the names. When it is reached, all are
 * dropped and located again.
 */
const MAX_MODELS = 200;

/** Places by entry and model. They are kept because nearly all requests name one of a few models. */
export class KnownPlaces {
  readonly #byEntry = new WeakMap<CatalogEntry, Map<string, KnownPlace[]>>();

  /** @param locate may throw; its errors are not kept */
  of(entry: CatalogEntry, key: PlaceKey, locate: (entry: CatalogEntry, key: PlaceKey) => Located): KnownPlace {
    let byModel = this.#byEntry.get(entry);
    if (!byModel) this.#byEntry.set(entry, (byModel = new Map<string, KnownPlace[]>()));
    const places = byModel.get(key.model) ?? [];
    const at = places.findIndex((place) => isSame(place.key, key));
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

const isSame = (a: PlaceKey, b: PlaceKey): boolean =>
  a.task === b.task &&
  a.stream === b.stream &&
  a.client === b.client &&
  a.tools === b.tools &&
  a.compacts === b.compacts &&
  a.form === b.form;
