import { checkBodyModelName } from '../model-name.ts';
import type { ProviderEntry } from '../provider.ts';
import { OpenAiApiEntry } from './entry.ts';

/**
 * An OpenAI-compatible server that the request itself names. It is given the caller's own token or none: a credential of the
 * catalog must not follow a caller to a host of its choice.
 * @param base the address an OpenAI SDK would be given; whether the caller may name it has been decided
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
