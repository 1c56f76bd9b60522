import type { ResolvedTarget } from '../kernel/index.ts';
import type { Codec } from '../providers/codec.ts';
import type { Location, Quirks } from '../providers/provider.ts';
import type { CatalogEntry } from './catalog.ts';
import { mostUsage } from './model-table/model-table.ts';
import { knownInlineThinkers } from './inline-thinkers.ts';

interface TargetExtras {
  /** The caller's name of the model within the entry. */
  readonly name?: string;
  /** The gateway estimates the count of tokens. */
  readonly estimates?: boolean;
}

/**
 * A resolved target that knows its catalog entry. The entry is private because plugins receive targets and the entry gives
 * access to credentials; only the sender reads it.
 */
export class CatalogTarget implements ResolvedTarget {
  readonly slug: string;
  readonly provider: string;
  readonly semconvName: string;
  readonly model: string;
  readonly modelLabel: string;
  readonly region: string | undefined;
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly format: ResolvedTarget['format'];
  readonly formatReason: ResolvedTarget['formatReason'];
  readonly host: ResolvedTarget['host'];
  readonly streamUsage: ResolvedTarget['streamUsage'];
  readonly modelInBody: ResolvedTarget['modelInBody'];
  readonly extensions: ResolvedTarget['extensions'];
  readonly customTools: ResolvedTarget['customTools'];
  readonly takesUnknownIds: ResolvedTarget['takesUnknownIds'];
  readonly signatureScope: ResolvedTarget['signatureScope'];
  readonly structuredOutputs: ResolvedTarget['structuredOutputs'];
  readonly inlineThinking: ResolvedTarget['inlineThinking'];
  readonly mostUsage: ResolvedTarget['mostUsage'];
  readonly estimatesTokens: ResolvedTarget['estimatesTokens'];
  readonly customHost: ResolvedTarget['customHost'];
  readonly adHoc: ResolvedTarget['adHoc'];
  readonly usesCallersToken: ResolvedTarget['usesCallersToken'];
  readonly timeouts: ResolvedTarget['timeouts'];
  readonly defaultMaxTokens: ResolvedTarget['defaultMaxTokens'];
  readonly #entry: CatalogEntry;
  readonly #quirks: Quirks | undefined;
  readonly #codec: Codec | undefined;

  constructor(entry: CatalogEntry, location: Location, modelLabel: string, more: TargetExtras = {}) {
    const { name = location.model, estimates = false } = more;
    const { provider } = entry;
    this.slug = provider.slug;
    this.provider = provider.provider;
    this.semconvName = provider.semconvName;
    this.model = location.model;
    this.modelLabel = modelLabel;
    this.region = /\/locations\/([a-z0-9-]+)\//.exec(location.path)?.[1];
    this.origin = location.origin;
    this.path = location.path;
    this.headers = location.headers;
    this.format = location.format;
    this.formatReason = location.formatReason;
    this.host = location.host;
    this.streamUsage = location.streamUsage;
    this.modelInBody = location.modelInBody;
    this.extensions = location.extensions;
    this.customTools = location.customTools;
    this.takesUnknownIds = (location.takesUnknownIds ?? false) || provider.usesCallersToken;
    this.signatureScope = location.signatureScope;
    this.structuredOutputs = location.structuredOutputs;
    this.inlineThinking =
      location.format === 'openai-chat' ? (entry.inlineThinking ?? knownInlineThinkers).has(name) : undefined;
    this.mostUsage = mostUsage(provider.provider, location.model);
    this.estimatesTokens = estimates;
    this.customHost = provider.chosenByCaller ? new URL(location.origin).host : undefined;
    this.adHoc = provider.adHoc;
    this.usesCallersToken = provider.usesCallersToken;
    this.timeouts = entry.timeouts;
    this.defaultMaxTokens = entry.defaultMaxTokens;
    this.#entry = entry;
    this.#quirks = location.quirks;
    this.#codec = location.codec;
    // Requests share it.
    Object.freeze(this);
  }

  /** The entry of a target; undefined for an object that no resolver created (such as a copy). */
  static entryOf(this: void, target: ResolvedTarget): CatalogEntry | undefined {
    return #entry in target ? target.#entry : undefined;
  }

  /** The codec of the target, for tasks that are not conversations. */
  static codecOf(this: void, target: ResolvedTarget): Codec | undefined {
    return #codec in target ? target.#codec : undefined;
  }

  /** Deviations of the target's API from its format. */
  static quirksOf(this: void, target: ResolvedTarget): Quirks | undefined {
    return #quirks in target ? target.#quirks : undefined;
  }
}

export const { entryOf, codecOf, quirksOf } = CatalogTarget;
