import { createHash, generateKeyPairSync } from 'node:crypto';
import type { ReferenceLookup } from './resolve-references.ts';
import type { Reference } from './references.ts';

/**
 * Secrets in the place of those that this machine does not have, for commands that read settings and send nothing: in CI nobody has
 * the credentials. A stand-in passes every check its secret would, and is the same whenever the same reference is read.
 */
export class Fakes {
  readonly #names = new Set<string>();

  /** Which secrets are stood in for: `env:NAME`, `file:PATH`. */
  get names(): readonly string[] {
    return [...this.#names];
  }

  /** @param field the key of the secret; some secrets are no simple text */
  around(lookup: ReferenceLookup, field: string | number | undefined): ReferenceLookup {
    return {
      paths: lookup.paths,
      find: (reference) => {
        const found = lookup.find(reference);
        if ('text' in found) return found;
        this.#names.add(sourceOf(reference));
        return { text: fakeFor(reference, field) };
      },
    };
  }
}

const sourceOf = ({ kind, name }: Reference): string => `${kind}:${name}`;

/** Two secrets must not be the same: keys are told apart by what they are. */
function fakeFor(reference: Reference, field: string | number | undefined): string {
  const digest = createHash('sha256').update(sourceOf(reference)).digest('hex').slice(0, 16);
  if (field === 'private_key') return privateKey();
  if (field !== 'service_account' && field !== 'credentials_json') return `stand-in-${digest}`;
  return JSON.stringify({
    type: 'service_account',
    project_id: PROJECT,
    client_email: `stand-in-${digest}@${PROJECT}.iam.gserviceaccount.com`,
    private_key: privateKey(),
  });
}

/** Seen in URLs, so it says what it is. */
const PROJECT = 'project-of-the-credentials';

let pem: string | undefined;

/** Short, because making a long one takes longer than all the rest; it signs nothing. */
const privateKey = (): string =>
  (pem ??= generateKeyPairSync('rsa', {
    modulusLength: 1024,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).privateKey);
