import { createHash, generateKeyPairSync } from 'node:crypto';
import type { JsonPath } from '../schema/pointer.ts';
import type { ReferenceLookup, Reference } from './references.ts';

/** Fakes pass every check that their secrets would, for commands that send nothing: CI has no credentials. */
export class Fakes {
  readonly #names = new Set<string>();

  /** The references of the faked secrets: `env:NAME`, `file:PATH`. */
  get names(): readonly string[] {
    return [...this.#names];
  }

  /** @param path of the secret in the settings; some secrets need a certain form */
  around(lookup: ReferenceLookup, path: JsonPath): ReferenceLookup {
    return {
      paths: lookup.paths,
      find: (reference) => {
        const found = lookup.find(reference);
        if ('text' in found) return found;
        this.#names.add(sourceOf(reference));
        return { text: fakeFor(reference, path) };
      },
    };
  }
}

const sourceOf = ({ kind, name }: Reference): string => `${kind}:${name}`;

/** Fakes of different references differ: equal gateway keys would be reported as duplicates. */
function fakeFor(reference: Reference, path: JsonPath): string {
  const field = path.at(-1);
  const digest = createHash('sha256').update(sourceOf(reference)).digest('hex').slice(0, 16);
  if (field === 'private_key') return privateKey();
  if (field === 'url' && path.at(-2) === 'store') return `postgres://stand-in:${digest}@stand-in.example/stand-in`;
  if (field === 'url') return `https://stand-in-${digest}.example/`;
  if (field === 'encryption_keys' || field === 'peppers')
    return `stand-in:${createHash('sha256').update(digest).digest('base64')}`;
  if (field === 'proxy_credentials') return `stand-in:${digest}`;
  if (field === 'secret') return `whsec_${Buffer.from(digest.repeat(2)).toString('base64')}`;
  if (field !== 'service_account' && field !== 'credentials_json') return `stand-in-${digest}`;
  return JSON.stringify({
    type: 'service_account',
    project_id: PROJECT,
    client_email: `stand-in-${digest}@${PROJECT}.iam.gserviceaccount.com`,
    private_key: privateKey(),
  });
}

/** A descriptive name, because explanations show it in URLs. */
const PROJECT = 'project-of-the-credentials';

let pem: string | undefined;

/** A short key, because generating a long one takes longer than the rest of the command; it signs nothing. */
const privateKey = (): string =>
  (pem ??= generateKeyPairSync('rsa', {
    modulusLength: 1024,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).privateKey);
