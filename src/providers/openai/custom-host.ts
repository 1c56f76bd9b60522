import { checkBodyModelName } from '../model-name.ts';
import type { ProviderEntry } from '../provider.ts';
import { OpenAiApiEntry } from './entry.ts';

/**
 * An OpenAI-compatible server that the request itself names. It receives the caller's own token or none: a credential of the
 * catalog must not be sent to a host that the caller chose.
 * @param base the base URL as for an OpenAI SDK, already checked against the allowed hosts
 */
export function createCustomHost(base: URL, allowInsecure: boolean): ProviderEntry {
  const prefix = base.pathname.replace(/\/+$/, '');
  return new OpenAiApiEntry({
    slug: 'custom-host',
    provider: 'openai',
    semconvName: 'openai',
    allowInsecure,
    chosenByCaller: true,
    origin: base.origin,
    headers: {},
    credentials: 'caller',
    streamUsage: true,
    place: (model, operation) => {
      checkBodyModelName(model);
      return { path: `${prefix}${operation.path}`, model };
    },
  });
}
