import type { Base } from '../base-url.ts';
import { unusable } from '../model-name.ts';
import type { Call, Location } from '../provider.ts';
import type { Quirks } from '../quirks.ts';
import type { DeployedModel } from './endpoint-settings.ts';
import { claude, google, readFamily } from './families.ts';
import { explainPermission } from './permission.ts';

export type ApiVersion = 'v1' | 'v1beta1';

/** A project in a location, and what an entry says of the models there. */
export interface Place {
  readonly base: Base;
  readonly version: ApiVersion;
  readonly projectId: string;
  readonly region: string;
  readonly takesBeta: (name: string) => boolean;
  /** By the name after `endpoints.`. */
  readonly endpoints: ReadonlyMap<string, DeployedModel>;
}

/** Where an entry's models live. */
export interface Locations {
  locate(name: string, call: Call, headers?: Location['headers']): Location;
}

const NO_HEADERS = Object.freeze({});
const ENDPOINT_PREFIX = 'endpoints.';

/** Where the models of one project and location live. */
export class VertexLocations implements Locations {
  readonly #base: Base;
  /** From the version to the location. */
  readonly #parent: string;
  readonly #endpoints: Place['endpoints'];
  readonly #quirks: Quirks = { explain: explainPermission };
  readonly #quirksOfClaude: Quirks;

  constructor({ base, version, projectId, region, takesBeta, endpoints }: Place) {
    this.#base = base;
    this.#parent = `/${version}/projects/${projectId}/locations/${region}/`;
    this.#endpoints = endpoints;
    this.#quirksOfClaude = { ...this.#quirks, takesBeta };
  }

  locate(name: string, call: Call, headers: Location['headers'] = NO_HEADERS): Location {
    const deployed = this.#deployed(name);
    if (deployed) {
      const { path, ...spot } = deployed.spot(call);
      const { origin, prefix } = deployed.origin === undefined ? this.#base : { origin: deployed.origin, prefix: '' };
      return { origin, path: prefix + this.#parent + path, ...spot, host: 'vertex', headers, quirks: deployed.quirks };
    }
    const { family, model } = readFamily(name);
    const { path, ...spot } = family(model, call);
    const { origin, prefix } = this.#base;
    const quirks = family === claude ? this.#quirksOfClaude : this.#quirks;
    return { origin, path: prefix + this.#parent + path, ...spot, host: 'vertex', headers, quirks };
  }

  #deployed(name: string): DeployedModel | undefined {
    return name.startsWith(ENDPOINT_PREFIX) ? this.#endpoints.get(name.slice(ENDPOINT_PREFIX.length)) : undefined;
  }
}

/** Express mode: an API key in place of a project, for Gemini alone (wire.md C1). */
export class ExpressLocations implements Locations {
  readonly #base: Base;
  readonly #version: ApiVersion;

  constructor(base: Base, version: ApiVersion) {
    this.#base = base;
    this.#version = version;
  }

  locate(name: string, call: Call, headers: Location['headers'] = NO_HEADERS): Location {
    const { family, model } = readFamily(name);
    if (family !== google) {
      throw unusable(
        name,
        "is not one of Google's own models, and an API key (express mode) reaches no others: they need a project",
      );
    }
    const { path, ...spot } = family(model, call);
    const { origin, prefix } = this.#base;
    return { origin, path: `${prefix}/${this.#version}/${path}`, ...spot, host: 'vertex', headers };
  }
}
