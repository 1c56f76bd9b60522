import type { AzureOpenAiEntry as AzureSettings } from '../../../../schemas/types.generated.ts';
import type { Report } from '../../kernel/report.ts';
import { readApiKey, readBase, type Base, OPENAI_APIS, NO_EXTENSIONS, readExtensions } from '../entry-settings.ts';
import { defineProvider } from '../definition.ts';
import { checkModelName, modelSegment } from '../model-name.ts';
import { openAiApiEntry, type EntryParts } from './entry.ts';
import { readHeaders } from './headers.ts';

/**
 * Azure OpenAI: OpenAI's API at the operator's own resource, for the deployments in it. The v1 API has the deployment's
 * name in the body; dated versions have it in the path
 * (https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle).
 */
export const azureOpenAi = defineProvider<AzureSettings>({
  name: 'azure-openai',
  create(entry, { report }) {
    const resource = readResource(entry, report);
    const apiKey = readApiKey(entry.api_key, report);
    const own = { headers: {}, credentials: { 'api-key': apiKey ?? '' } };
    const headers = readHeaders(entry, own, report);
    if (entry.api === 'responses' && entry.api_version !== undefined) {
      report({ path: ['api'], message: 'api: responses needs the v1 API of Azure: remove api_version' });
      return undefined;
    }
    if (!resource || apiKey === undefined || !headers) return undefined;
    return openAiApiEntry({
      slug: entry.slug,
      provider: 'azure-openai',
      semconvName: 'azure.ai.openai',
      allowInsecure: entry.allow_insecure ?? false,
      origin: resource.origin,
      ...headers,
      streamUsage: entry.stream_usage ?? true,
      api: entry.api ?? 'auto',
      // Dated versions have no Responses API under the path of a deployment.
      hasResponses: entry.api_version === undefined,
      extensions: readExtensions(entry.extensions, NO_EXTENSIONS),
      customTools: true,
      unknownIds: entry.unknown_ids,
      place: createPlace(entry, resource.prefix),
      proof: { origin: resource.origin, path: resource.prefix + modelsPath(entry), headers: headers.headers },
    });
  },
  speaks: ({ extensions }) => (extensions === undefined ? OPENAI_APIS : undefined),
});

/** Of the resource, not of a deployment (https://learn.microsoft.com/rest/api/azureopenai/models/list). */
const modelsPath = ({ api_version: version }: AzureSettings): string =>
  version === undefined ? '/openai/v1/models' : `/openai/models?api-version=${version}`;

function createPlace({ deployments = {}, api_version: version }: AzureSettings, prefix: string): EntryParts['place'] {
  const byModel = new Map(Object.entries(deployments));
  return (model, operationPath) => {
    let deployment = byModel.get(model);
    if (deployment === undefined) {
      checkModelName(model);
      deployment = model;
    }
    const path =
      version === undefined
        ? `${prefix}/openai/v1${operationPath}`
        : `${prefix}/openai/deployments/${modelSegment(deployment)}${operationPath}?api-version=${version}`;
    return { path, model: deployment };
  };
}

/** The base of the resource. Accepts the address from the portal and, with `/openai` or `/openai/v1`, from an SDK's settings. */
function readResource(entry: AzureSettings, report: Report): Base | undefined {
  const base = readBase(entry, '', report);
  if (!base) return undefined;
  const mistake = mistakeIn(base.prefix, entry.api_version !== undefined);
  if (mistake !== undefined) {
    report({ path: ['base_url'], message: `base_url ${mistake}` });
    return undefined;
  }
  return { origin: base.origin, prefix: base.prefix.replace(/\/openai(?:\/v1)?$/, '') };
}

function mistakeIn(prefix: string, dated: boolean): string | undefined {
  if (/\/openai\/(?!v1$)/.test(prefix)) return 'goes further than the resource: remove everything after /openai';
  const isV1 = prefix.endsWith('/openai/v1');
  return isV1 && dated ? 'is of the v1 API, which has no api_version: remove one of the two' : undefined;
}
