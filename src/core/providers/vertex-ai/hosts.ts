import type { Report } from '../../kernel/report.ts';

/** Schema pattern of `region` in catalog.json: no other text may become part of a host name. */
const REGION = /^[a-z]+(-[a-z]+[0-9]+)?$/;
/** Longest label of a host name (RFC 1035) less `-aiplatform`. */
const MAX_REGION = 52;
/** Schema pattern of `project_id`: a project id, a domain-scoped one, or a project number. */
const PROJECT = /^([a-z][a-z0-9.-]*\.[a-z]+:)?[a-z][a-z0-9-]{4,28}[a-z0-9]$|^[0-9]{6,20}$/;

/** Schema pattern of an endpoint's id: digits, or a name that its owner chose. `openapi` is the path of Google's open models. */
const ENDPOINT_ID = /^(?!openapi$)[A-Za-z0-9](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$/;

const MULTI_REGIONS: Readonly<Record<string, string>> = {
  global: 'aiplatform.googleapis.com',
  us: 'aiplatform.us.rep.googleapis.com',
  eu: 'aiplatform.eu.rep.googleapis.com',
};

export const isRegion = (text: string): boolean => text.length <= MAX_REGION && REGION.test(text);

/** Warns of an unknown multi-region (a single word): its host does not exist, unless Google has added one. */
export function checkLocation(key: string, region: string, report: Report): void {
  const known = Object.keys(MULTI_REGIONS);
  if (region.includes('-') || known.includes(region)) return;
  report({
    path: [key],
    severity: 'warning',
    message: `${key} is neither a region, such as us-central1, nor a known multi-region: ${known.join(', ')}`,
  });
}

export const isEndpointId = (text: string): boolean => ENDPOINT_ID.test(text);
export const isProjectId = (text: string): boolean => text.length <= 128 && PROJECT.test(text);

/** Express mode has one host, and no project and no location in its paths (docs/protocols/vertex-ai.md#express-mode). */
export const EXPRESS_HOST = 'aiplatform.googleapis.com';

/** The host of a location (docs/protocols/vertex-ai.md#hosts). The caller has checked the region. */
export function vertexHost(region: string): string {
  return MULTI_REGIONS[region] ?? `${region}-aiplatform.googleapis.com`;
}

/** `{id}.{region}-{project number}.prediction.vertexai.goog` (docs/protocols/vertex-ai.md#dedicated-endpoints). */
const DEDICATED = /^([a-z0-9-]{1,63})\.([a-z]+-[a-z]+[0-9]+)-[0-9]{6,20}\.prediction\.vertexai\.goog$/;

/** Undefined for any other name. */
export function readDedicatedHost(dns: string): { readonly endpoint: string; readonly region: string } | undefined {
  const [, endpoint, region] = DEDICATED.exec(dns) ?? [];
  return endpoint === undefined || region === undefined ? undefined : { endpoint, region };
}
