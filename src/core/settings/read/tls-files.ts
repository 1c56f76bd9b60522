import { adminSettings } from '../compile/server-settings.ts';
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { isAbsolute, join } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { ServerFile, Tls } from '../../../../schemas/types.generated.ts';
import { Secret } from '../../../plugin/index.ts';
import type { Report } from '../../kernel/report.ts';
import { within } from '../checks/check.ts';
import type { SettingsFiles } from '../source/files.ts';

/** The content of the files of one `tls`, PEM. */
export interface TlsIdentity {
  /** The certificate, then those of the authorities between it and the root. */
  readonly cert: string;
  readonly key: Secret;
  /** Authorities of client certificates. Undefined: the listener requests none. */
  readonly clientCa: string | undefined;
  /** When the certificate ends, in milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface TlsFiles {
  readonly data?: TlsIdentity | undefined;
  readonly admin?: TlsIdentity | undefined;
  /** Authorities of upstreams besides the public ones (`egress.ca`), PEM. */
  readonly upstreams?: string | undefined;
}

/** A certificate that ends within this time is reported: clients of ACME renew 30 days before the end. */
export const EXPIRES_SOON_MS = 14 * 24 * 3600 * 1000;

interface Reading {
  readonly folder: string;
  readonly files: SettingsFiles;
  readonly now: number;
}

/** A reading with every path that was read. */
interface Recorded extends Reading {
  readonly paths: string[];
}

/** Reports what is wrong with a file. */
function refuse(report: Report, message: string): undefined {
  report({ path: [], message });
}

/** Reads the certificates that server.yaml names. What is wrong with a file is reported where server.yaml names it. */
export async function readTlsFiles(
  server: ServerFile | undefined,
  reading: Reading,
  report: Report,
): Promise<Pick<Recorded, 'paths'> & { readonly tls: TlsFiles }> {
  const paths: string[] = [];
  const recorded = { ...reading, paths };
  const places = [
    ['data', server?.tls, ['tls']],
    ['admin', server && adminSettings(server).tls, ['admin', 'tls']],
  ] as const;
  const tls: { data?: TlsIdentity; admin?: TlsIdentity; upstreams?: string } = {};
  for (const [name, names, path] of places) {
    if (!names) continue;
    const identity = await readIdentity(names, recorded, within(report, ...path));
    if (identity) tls[name] = identity;
  }
  const ca = server?.egress?.ca;
  if (ca !== undefined) {
    const upstreams = await readAuthorities(ca, recorded, within(report, 'egress', 'ca'));
    if (upstreams !== undefined) tls.upstreams = upstreams;
  }
  return { tls, paths };
}

async function readAuthorities(name: string, reading: Recorded, report: Report): Promise<string | undefined> {
  const pem = await readFile(name, reading, report);
  const authorities = pem === undefined ? undefined : readCertificates(pem, report);
  if (authorities) checkAuthorities(authorities, reading.now, report);
  return authorities && pem;
}

async function readIdentity(
  { cert: certFile, key: keyFile, client_ca: caFile }: Pick<Tls, 'cert' | 'key' | 'client_ca'>,
  reading: Recorded,
  report: Report,
): Promise<TlsIdentity | undefined> {
  const [ofCert, ofKey] = [within(report, 'cert'), within(report, 'key')];
  const [cert, key] = [await readFile(certFile, reading, ofCert), await readFile(keyFile, reading, ofKey)];
  const [certificate] = (cert === undefined ? undefined : readCertificates(cert, ofCert)) ?? [];
  const privateKey = key === undefined ? undefined : readPrivateKey(key, ofKey);
  const clientCa =
    caFile === undefined ? undefined : await readAuthorities(caFile, reading, within(report, 'client_ca'));
  if (!certificate || !checkCertificate(certificate, reading.now, ofCert)) return undefined;
  if (cert === undefined || key === undefined || !privateKey) return undefined;
  if (caFile !== undefined && clientCa === undefined) return undefined;
  if (!certificate.checkPrivateKey(privateKey))
    return refuse(ofKey, 'this private key is not that of the certificate in `cert`: was only one of the two renewed?');
  const identity = { cert, key: new Secret(key), clientCa, expiresAt: endOf(certificate) };
  return isUsable(identity, ofCert) ? identity : undefined;
}

async function readFile(name: string, reading: Recorded, report: Report): Promise<string | undefined> {
  const { folder, files, paths } = reading;
  if (name.includes('-----BEGIN')) return refuse(report, TEXT_OF_FILE);
  const path = isAbsolute(name) ? name : join(folder, name);
  paths.push(path);
  const content = await files.read(path);
  if ('text' in content) return content.text;
  return refuse(report, 'missing' in content ? `there is no file ${path}` : `the file ${path} ${content.problem}`);
}

const TEXT_OF_FILE =
  'this is the text of a file: write its path alone, without `${file:…}`, as in `tls/cert.pem`, which is read from the settings folder';

/** Without the dashes of the line: messages show nothing that looks like a pasted key (conceal.ts). */
const NO_CERTIFICATE = 'this file has no certificate in PEM form: the lines from BEGIN CERTIFICATE to END CERTIFICATE';

const CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates of a file, in order. Undefined, and reported: there are none, or one cannot be read. */
function readCertificates(pem: string, report: Report): readonly X509Certificate[] | undefined {
  const blocks = pem.match(CERTIFICATES) ?? [];
  if (blocks.length === 0) return refuse(report, NO_CERTIFICATE);
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    return refuse(report, 'a certificate of this file is damaged');
  }
}

/** Messages quote nothing of the file. */
function readPrivateKey(pem: string, report: Report): KeyObject | undefined {
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: *4,ENCRYPTED/m.test(pem)) return refuse(report, ENCRYPTED);
  try {
    return createPrivateKey(pem);
  } catch {
    return refuse(report, NO_PRIVATE_KEY);
  }
}

const ENCRYPTED =
  'this private key is encrypted, and the gateway cannot ask for its passphrase: decrypt it (openssl pkey -in FILE -out NEW), and let only the gateway read the file';
const NO_PRIVATE_KEY =
  'this file has no private key in PEM form (the lines from BEGIN PRIVATE KEY to END PRIVATE KEY), or a damaged one';

const endOf = (certificate: X509Certificate): number => Date.parse(certificate.validTo);
const dayOf = (moment: number): string => new Date(moment).toISOString().slice(0, 10);

function checkCertificate(certificate: X509Certificate, now: number, report: Report): boolean {
  const end = endOf(certificate);
  const warn = (message: string): void => report({ path: [], severity: 'warning', message });
  if (!(end > now)) {
    report({ path: [], message: `this certificate expired on ${dayOf(end)}: clients refuse it` });
    return false;
  }
  if (Date.parse(certificate.validFrom) > now) warn('this certificate is not valid yet, by the clock of this machine');
  if (end - now < EXPIRES_SOON_MS) warn(`this certificate expires soon, on ${dayOf(end)}`);
  // RFC 9525, section 2: clients read no host name from the subject.
  if (certificate.subjectAltName === undefined)
    warn('this certificate has no subjectAltName, so it names no host and clients refuse it');
  return true;
}

function checkAuthorities(authorities: readonly X509Certificate[], now: number, report: Report): void {
  const ended = authorities.filter((one) => !(endOf(one) > now));
  if (ended.length === 0) return;
  const all = ended.length === authorities.length;
  const message = all ? 'all authorities of this file have expired' : `${ended.length} authorities have expired`;
  report({ path: [], severity: all ? 'error' : 'warning', message });
}

/** The rest of what OpenSSL refuses, such as a key of 1024 bits. */
function isUsable({ cert, key, clientCa }: TlsIdentity, report: Report): boolean {
  try {
    createSecureContext({ cert, key: key.reveal(), ...(clientCa !== undefined && { ca: clientCa }) });
    return true;
  } catch (error) {
    const reason = error instanceof Error && 'reason' in error ? String(error.reason) : 'unknown reason';
    report({ path: [], message: `TLS cannot use this certificate: ${reason}` });
    return false;
  }
}
