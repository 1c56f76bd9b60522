import { type Base, scopeOf } from '../entry-settings.ts';
import { unusable } from '../model-name.ts';
import type { ModelCall, Location, Quirks } from '../provider.ts';
import type { EmbeddingSettings } from './task-models.ts';
import type { DeployedModel } from './endpoint-settings.ts';
import { BETA_NAMES } from './betas.ts';
import { claude, ENDPOINT_PREFIX, google, readFamily, type Family } from './families.ts';
import { explainPrefix, explainSize, forgottenPrefix, explainPermission } from './hints.ts';

/** A project in a location, with the entry's settings for the models there. */
export interface RegionalProject {
  readonly base: Base;
  readonly version: 'v1' | 'v1beta1';
  readonly projectId: string;
  readonly region: string;
  /** The location for counting Claude's tokens, if it is another one. */
  readonly claudeCounts?: Pick<RegionalProject, 'base' | 'region'> | undefined;
  readonly takesFeature: (name: string) => boolean;
  /** The same for counts of Claude's tokens. */
  readonly takesInCounts: (name: string) => boolean;
  /** By the name after `endpoints.`. */
  readonly endpoints: ReadonlyMap<string, DeployedModel>;
  readonly embeddings: EmbeddingSettings;
}

export type Locate = (name: string, call: ModelCall, headers?: Location['headers']) => Location;

const NO_HEADERS = Object.freeze({});

export function vertexLocations(project: RegionalProject): Locate {
  const { base, version, projectId, region, takesFeature, takesInCounts, endpoints, embeddings } = project;
  const { claudeCounts = { base, region } } = project;
  const parentIn = (location: string): string => `/${version}/projects/${projectId}/locations/${location}/`;
  const own = { base, parent: parentIn(region) };
  const signatureScope = scopeOf([base.origin, projectId]);
  const counting = { base: claudeCounts.base, parent: parentIn(claudeCounts.region) };
  const quirks: Quirks = { explain: explainPermission };
  const quirksOfClaude: Quirks = {
    explain: (failure) => explainSize(explainPermission(failure)),
    takesFeature,
    featureNames: BETA_NAMES,
  };

  const quirksOfCount: Quirks = { ...quirksOfClaude, takesFeature: takesInCounts };

  function quirksOf(model: string, family: Family, { task }: ModelCall): Quirks {
    if (family === claude) return task === 'count_tokens' ? quirksOfCount : quirksOfClaude;
    if (family !== google || forgottenPrefix(model) === undefined) return quirks;
    return { ...quirks, explain: (failure) => explainPrefix(explainPermission(failure), model) };
  }

  function locateDeployed(deployed: DeployedModel, call: ModelCall, headers: Location['headers']): Location {
    const { path, ...endpoint } = deployed.locate(call, embeddings);
    const { origin, prefix } = deployed.origin === undefined ? base : { origin: deployed.origin, prefix: '' };
    return {
      origin,
      path: prefix + own.parent + path,
      ...endpoint,
      host: 'vertex',
      signatureScope,
      headers,
      quirks: deployed.quirks(call),
    };
  }

  return (name, call, headers = NO_HEADERS) => {
    const deployed = name.startsWith(ENDPOINT_PREFIX) ? endpoints.get(name.slice(ENDPOINT_PREFIX.length)) : undefined;
    if (deployed) return locateDeployed(deployed, call, headers);
    const { family, model } = readFamily(name);
    const { path, ...endpoint } = family(model, call, embeddings);
    const { base, parent } = family === claude && call.task === 'count_tokens' ? counting : own;
    return {
      origin: base.origin,
      path: base.prefix + parent + path,
      ...endpoint,
      host: 'vertex',
      signatureScope,
      headers,
      quirks: quirksOf(model, family, call),
    };
  };
}

/** Express mode: an API key in place of a project, for Gemini alone (docs/protocols/vertex-ai.md#express-mode). */
export const expressLocations =
  ({ base, version, embeddings }: Pick<RegionalProject, 'base' | 'version' | 'embeddings'>): Locate =>
  (name, call, headers = NO_HEADERS) => {
    const { family, model } = readFamily(name);
    if (family !== google) {
      throw unusable(
        name,
        "is not one of Google's own models: an API key (express mode) works for those only, other models need a project",
      );
    }
    const { path, ...endpoint } = family(model, call, embeddings);
    return { origin: base.origin, path: `${base.prefix}/${version}/${path}`, ...endpoint, host: 'vertex', headers };
  };
