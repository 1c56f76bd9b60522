import type { ModelTask } from '../../plugin/request.ts';
import type { Exchange, UsedAlias } from './exchange.ts';
import type { Caller } from './settings.ts';

/** A model that a caller may use. */
export interface ListedModel {
  /** Value of a request's `model` field: `@slug/model`, or the bare name when the request's headers name the place. */
  readonly id: string;
  /** Model name without the `@slug/` prefix; of an alias, its display name. */
  readonly name: string;
  /** Provider name: `vertex-ai`; of an alias of a config, the provider of its first target. */
  readonly provider: string;
  /** The tasks that its provider has a path for. */
  readonly tasks: readonly ModelTask[];
  /** Context window in tokens; undefined when unknown. */
  readonly context?: number | undefined;
  /** The largest input in tokens, at most the context window; undefined when unknown. */
  readonly maxInput?: number | undefined;
  /** The largest answer in tokens; undefined when unknown. */
  readonly maxOutput?: number | undefined;
  /** Reasoning efforts, the default first; undefined when unknown. */
  readonly efforts?: readonly string[] | undefined;
  /** The types of `thinking` of Anthropic's API that the model takes; undefined when unknown. */
  readonly thinking?: readonly string[] | undefined;
  /** Abilities of the model, in the words of data/models.schema.json (`caps`), and `citations` of Claude: a hint. Undefined when unknown. */
  readonly capabilities?: readonly string[] | undefined;
}

/** The aliases of the catalog. */
export interface AliasDirectory {
  readonly isEmpty: boolean;
  /** Undefined for a name that is no alias. */
  find(caller: Caller | undefined, name: string): UsedAlias | undefined;
}

/** The models of the catalog that one caller may use. */
export interface ModelDirectory {
  /** Models that the catalog lists by name, ordered by id: aliases, then names with `@slug/`. */
  list(exchange: Exchange): readonly ListedModel[];
  /** A model that the caller may use, listed or not; a forbidden one is as an unknown one. Throws GatewayError. */
  find(exchange: Exchange, id: string): ListedModel | undefined;
}
