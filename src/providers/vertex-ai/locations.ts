import type { Base } from '../base-url.ts';
import { unusable } from '../model-name.ts';
import type { ModelCall, Location } from '../provider.ts';
import type { Quirks } from '../quirks.ts';
import type { EmbeddingSettings } from './embeddings/settings.ts';
import type { DeployedModel } from './endpoint-settings.ts';
import { claude, ENDPOINT_PREFIX, google, readFamily, type Family } from './families.ts';
import { explainPrefix, forgottenPrefix } from './forgotten-prefix.ts';
import { explainPermission } from './permission.ts';

export type ApiVersion = 'v1' | 'v1beta1';

/** A project in a location, with the entry's settings for the models there. */
export interface RegionalProject {
  readonly base: Base;
  readonly version: ApiVersion;
  readonly projectId: string;
  readonly region: string;
  /** The location for counting Claude's tokens, if it is another one. */
  readonly claudeCounts?: Pick<RegionalProject, 'base' | 'region'> | undefined;
  readonly takesFeature: (name: string) => boolean;
  /** By the name after `endpoints.`. */
  readonly endpoints: ReadonlyMap<string, DeployedModel>;
  readonly embeddings: EmbeddingSettings;
}

/** The addresses of an entry's models. */
export interface Locations {
  locate(name: string, call: ModelCall, headers?: Location['headers']): Location;
}

interface Parent {
  readonly base: Base;
  readonly parent: string;
}

const NO_HEADERS = Object.freeze({});

/** The addresses of the models in one project and location. */
export class VertexLocations implements Locations {
  readonly #base: Base;
  /** The path from the version to the location. */
  readonly #parent: string;
  readonly #claudeCounts: Parent;
  readonly #endpoints: RegionalProject['endpoints'];
  readonly #embeddings: EmbeddingSettings;
  readonly #quirks: Quirks = { explain: explainPermission };
  readonly #quirksOfClaude: Quirks;

  constructor({
    base,
    version,
    projectId,
    region,
    claudeCounts,
    takesFeature,
    endpoints,
    embeddings,
  }: RegionalProject) {
    const under = (location: string): string => `/${version}/projects/${projectId}/locations/${location}/`;
    this.#base = base;
    this.#parent = under(region);
    this.#claudeCounts = claudeCounts
      ? { base: claudeCounts.base, parent: under(claudeCounts.region) }
      : { base, parent: this.#parent };
    this.#endpoints = endpoints;
    this.#embeddings = embeddings;
    this.#quirksOfClaude = { ...this.#quirks, takesFeature };
  }

  locate(name: string, call: ModelCall, headers: Location['headers'] = NO_HEADERS): Location {
    const deployed = this.#deployed(name);
    if (deployed) {
      const { path, ...endpoint } = deployed.locate(call, this.#embeddings);
      const { origin, prefix } = deployed.origin === undefined ? this.#base : { origin: deployed.origin, prefix: '' };
      const quirks = deployed.quirks(call);
      return { origin, path: prefix + this.#parent + path, ...endpoint, host: 'vertex', headers, quirks };
    }
    const { family, model } = readFamily(name);
    const { path, ...endpoint } = family(model, call, this.#embeddings);
    const counts = family === claude && call.task === 'count_tokens';
    const { base, parent } = counts ? this.#claudeCounts : { base: this.#base, parent: this.#parent };
    const quirks = family === claude ? this.#quirksOfClaude : this.#quirksOf(model, family);
    return { origin: base.origin, path: base.prefix + parent + path, ...endpoint, host: 'vertex', headers, quirks };
  }

  #quirksOf(model: string, family: Family): Quirks {
    if (family !== google || forgottenPrefix(model) === undefined) return this.#quirks;
    return { ...this.#quirks, explain: (failure) => explainPrefix(explainPermission(failure), model) };
  }

  #deployed(name: string): DeployedModel | undefined {
    return name.startsWith(ENDPOINT_PREFIX) ? this.#endpoints.get(name.slice(ENDPOINT_PREFIX.length)) : undefined;
  }
}

/** Express mode: an API key in place of a project, for Gemini alone (docs/protocols/vertex-ai.md#express-mode). */
export class ExpressLocations implements Locations {
  readonly #base: Base;
  readonly #version: ApiVersion;
  readonly #embeddings: EmbeddingSettings;

  constructor({ base, version, embeddings }: Pick<RegionalProject, 'base' | 'version' | 'embeddings'>) {
    this.#base = base;
    this.#version = version;
    this.#embeddings = embeddings;
  }

  locate(name: string, call: ModelCall, headers: Location['headers'] = NO_HEADERS): Location {
    const { family, model } = readFamily(name);
    if (family !== google) {
      throw unusable(
        name,
        "is not one of Google's own models: an API key (express mode) works for those only, other models need a project",
      );
    }
    const { path, ...endpoint } = family(model, call, this.#embeddings);
    const { origin, prefix } = this.#base;
    return { origin, path: `${prefix}/${this.#version}/${path}`, ...endpoint, host: 'vertex', headers };
  }
}
