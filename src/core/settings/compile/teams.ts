import type { GatewayKey, TeamsFile } from '../../../../schemas/types.generated.ts';

interface NamedOwner {
  readonly id: string;
  readonly metadata: Readonly<Record<string, string>> | undefined;
}

/** The team of a key and its organization, where there are any. */
export interface TeamsOfKey {
  readonly team: NamedOwner | undefined;
  readonly organization: NamedOwner | undefined;
}

export function teamsOfKey({ team: id }: GatewayKey, { organizations = {}, teams = {} }: TeamsFile): TeamsOfKey {
  const team = id === undefined ? undefined : teams[id];
  const outer = team?.organization;
  return {
    team: team && { id: id!, metadata: team.metadata },
    organization: outer === undefined ? undefined : { id: outer, metadata: organizations[outer]?.metadata },
  };
}

/** The metadata of the key, its team and its organization; the nearer to the key wins. Undefined: none. */
export function metadataOf(
  { metadata }: GatewayKey,
  { organization, team }: TeamsOfKey,
): Readonly<Record<string, string>> | undefined {
  if (!organization?.metadata && !team?.metadata) return metadata;
  return { ...organization?.metadata, ...team?.metadata, ...metadata };
}
