import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Issued {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

interface Wanted {
  /** Default: `localhost`. */
  readonly commonName?: string;
  /** As OpenSSL writes them: `DNS:localhost,IP:127.0.0.1`. Empty: none. */
  readonly names?: string;
  /** Encrypts the private key. */
  readonly passphrase?: string;
}

/** A certificate authority for tests, by the openssl command. Its certificates are valid for 30 days. */
export class Authority {
  readonly #folder = mkdtempSync(join(tmpdir(), 'gatehouse-ca-'));
  /** The certificate of the authority, PEM. */
  readonly cert: string;
  #issued = 0;

  constructor(commonName = 'Test authority') {
    this.cert = this.#create('ca', [
      '-nodes',
      `-subj=/CN=${commonName}`,
      '-addext=basicConstraints=critical,CA:TRUE',
      '-addext=keyUsage=critical,keyCertSign',
    ]).cert;
  }

  issue({ commonName = 'localhost', names = 'DNS:localhost,IP:127.0.0.1', passphrase }: Wanted = {}): Issued {
    return this.#create(`issued-${(this.#issued += 1)}`, [
      `-CA=${join(this.#folder, 'ca.crt')}`,
      `-CAkey=${join(this.#folder, 'ca.key')}`,
      `-subj=/CN=${commonName}`,
      '-addext=basicConstraints=CA:FALSE',
      ...(names === '' ? [] : [`-addext=subjectAltName=${names}`]),
      passphrase === undefined ? '-nodes' : `-passout=pass:${passphrase}`,
    ]);
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #create(name: string, options: readonly string[]): Issued {
    const [cert, key] = [join(this.#folder, `${name}.crt`), join(this.#folder, `${name}.key`)];
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-days', '30'];
    const args = ['req', '-x509', ...kind, '-keyout', key, '-out', cert, ...options];
    execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: 20_000 });
    return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
  }
}
