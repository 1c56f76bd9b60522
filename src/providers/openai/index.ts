import type { OpenAiEntry as OpenAiSettings } from '../../../schemas/types.generated.ts';
import { readApiKey } from '../api-key.ts';
import { defineProvider } from '../definition.ts';
import { checkBodyModelName } from '../model-name.ts';
import { readApiBase } from './base.ts';
import { OpenAiApiEntry, type ApiPath } from './entry.ts';
import { readHeaders } from './headers.ts';
import type { OpenAiOperation } from './operations.ts';

/** OpenAI, and every server with a compatible API. */
export const openai = defineProvider<OpenAiSettings>({
  name: 'openai',
  create(entry, { report }) {
    const base = readApiBase(entry, report);
    const apiKey = entry.api_key && readApiKey(entry.api_key, report);
    const own = {
      headers: {
        ...(entry.organization !== undefined && { 'openai-organization': entry.organization }),
        ...(entry.project !== undefined && { 'openai-project': entry.project }),
      },
      // Without a key there is no header rather than an empty bearer.
      credentials: { ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }) },
    };
    const headers = readHeaders(entry, own, report);
    if (!base || !headers || (entry.api_key && apiKey === undefined)) return undefined;
    return new OpenAiApiEntry({
      slug: entry.slug,
      provider: 'openai',
      // OpenTelemetry has names for some of the vendors, but the base URL does not tell which vendor it is.
      semconvName: 'openai',
      allowInsecure: entry.allow_insecure ?? false,
      origin: base.origin,
      ...headers,
      streamUsage: entry.stream_usage ?? true,
      place: (model: string, operation: OpenAiOperation): ApiPath => {
        checkBodyModelName(model);
        return { path: `${base.prefix}${operation.path}`, model };
      },
    });
  },
});
