/** Schema pattern of `region` in catalog.json: nothing else may become part of a host name. */
const REGION = /^[a-z]+(-[a-z]+[0-9]+)?$/;
/** Longest label of a host name (RFC 1035) less `-aiplatform`. */
const MAX_REGION = 52;
/** Schema pattern of `project_id`: a project id, a domain-scoped one, or a project number. */
const PROJECT = /^([a-z][a-z0-9.-]*\.[a-z]+:)?[a-z][a-z0-9-]{4,28}[a-z0-9]$|^[0-9]{6,20}$/;

const MULTI_REGIONS: Readonly<Record<string, string>> = {
  global: 'aiplatform.googleapis.com',
  us: 'aiplatform.us.rep.googleapis.com',
  eu: 'aiplatform.eu.rep.googleapis.com',
};

export const isRegion = (text: string): boolean => text.length <= MAX_REGION && REGION.test(text);
export const isProjectId = (text: string): boolean => text.length <= 128 && PROJECT.test(text);

/** wire.md C1. The region has been checked. */
export function vertexHost(region: string): string {
  return MULTI_REGIONS[region] ?? `${region}-aiplatform.googleapis.com`;
}
