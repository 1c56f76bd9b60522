import type { KeysFile, ServerFile, TeamsFile } from '../../../../schemas/types.generated.ts';

/** Prefix of the labels that `telemetry.metrics.metadata` chooses. */
export const METADATA_LABEL = 'metadata_';

/** `cost-center` → `metadata_cost_center`: labels of Prometheus have letters, digits and `_`. */
export const metadataLabel = (key: string): string => METADATA_LABEL + key.replace(/[^A-Za-z0-9_]/g, '_');

/** The metadata keys that are labels of metrics, the name of each label, and the values that keys.yaml and teams.yaml have for it. */
export function metadataLabels(
  { telemetry }: ServerFile,
  { keys }: KeysFile,
  { organizations = {}, teams = {} }: TeamsFile = {},
) {
  const nodes = [...keys, ...Object.values(teams), ...Object.values(organizations)];
  return (telemetry?.metrics?.metadata ?? []).map((key) => ({
    key,
    name: metadataLabel(key),
    known: new Set(nodes.flatMap(({ metadata = {} }) => (Object.hasOwn(metadata, key) ? metadata[key]! : []))),
  }));
}
