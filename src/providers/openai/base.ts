import type { OpenAiEntry as OpenAiSettings } from '../../../schemas/types.generated.ts';
import type { Report } from '../../plugin/index.ts';
import { readBase, type Base } from '../base-url.ts';

const OWN_ORIGIN = 'https://api.openai.com';
const OWN_PREFIX = '/v1';

/** `/v1`, `/v4`, `/v1beta`: anywhere in the path, for Google's is `/v1beta/openai`. */
const VERSION = /\/v\d+[a-z0-9]*(?=\/|$)/;
const VERSION_TWICE = /(\/v\d+[a-z0-9]*)\1$/;
/** What vendors' documents show as the address is often the whole endpoint. */
const ENDPOINT = /\/(?:(?:chat\/)?completions|messages|embeddings|images\/generations|responses)$/;

/**
 * The base an OpenAI SDK would be given: with the version, without the endpoint. A base without a version is nearly always one
 * whose `/v1` was forgotten; the few APIs that have none say so (`unversioned`).
 */
export function readApiBase(entry: OpenAiSettings, report: Report): Base | undefined {
  const base = readBase(entry, OWN_ORIGIN, report);
  if (!base) return undefined;
  const { origin } = base;
  const prefix = entry.base_url === undefined ? OWN_PREFIX : base.prefix;
  const mistake = mistakeIn({ origin, prefix }, entry.api_key !== undefined);
  if (mistake !== undefined) {
    report({ path: ['base_url'], message: `base_url ${mistake}` });
    return undefined;
  }
  const unversioned = entry.unversioned ?? false;
  if (!VERSION.test(prefix) && !unversioned) {
    report({
      path: ['base_url'],
      severity: 'warning',
      message: `base_url has no version in its path, so ${OWN_PREFIX} is put after it: write it out, or set unversioned: true`,
    });
    return { origin, prefix: `${prefix}${OWN_PREFIX}` };
  }
  if (VERSION.test(prefix) && unversioned)
    report({
      path: ['unversioned'],
      severity: 'warning',
      message: 'unversioned has no effect: the path of base_url has a version',
    });
  return { origin, prefix };
}

function mistakeIn({ origin, prefix }: Base, hasKey: boolean): string | undefined {
  const { hostname } = new URL(origin);
  if (!hasKey && /(?:^|\.)api\.openai\.com$/.test(hostname)) return "is OpenAI's own, which needs an api_key";
  if (hostname.endsWith('.openai.azure.com')) return "is Azure's: write provider: azure-openai";
  const endpoint = ENDPOINT.exec(prefix)?.[0];
  if (endpoint !== undefined) return `ends with ${endpoint}, which is added to it for each request: leave it out`;
  const version = VERSION_TWICE.exec(prefix)?.[1];
  return version === undefined ? undefined : `ends with ${version} twice`;
}
