import type { KeyRing as PublicKeyRing } from '../../plugin/capabilities.ts';
import type { ClientCertificate } from './inbound-request.ts';
import type { Caller } from './settings.ts';

/** The gateway keys of the snapshot. */
export interface KeyRing extends PublicKeyRing {
  find(key: string, remoteAddress: string): Caller | undefined;
  /** Undefined: clients need no certificates. */
  readonly certificates?: CertificateRules | undefined;
  /** Undefined: the addresses of uploads hold no credential. */
  readonly uploads?: UploadGrants | undefined;
}

/** Credentials in upload addresses: Google's Python client sends no key there (docs/protocols/files.md#google). */
export interface UploadGrants {
  /** A credential for this upload alone. It is valid as long as the upload can last and the key is valid. Undefined: there is no such key. */
  grant(keyId: string, uploadId: string): string | undefined;
  /** The caller that has begun the upload. Undefined: this is no valid grant of it. Throws as `find` of the key ring. */
  find(grant: string, uploadId: string, remoteAddress: string): Caller | undefined;
}

/** Demands that the keys of the snapshot make of certificates, where `tls.client_ca` asks clients for them. */
export interface CertificateRules {
  /** Returns it. Throws GatewayError `invalid_client_certificate` unless an authority of `tls.client_ca` has signed it. */
  verify(certificate: ClientCertificate | undefined): ClientCertificate;
  /** Throws GatewayError `invalid_client_certificate` if the caller's key demands another one. */
  allow(caller: Caller, certificate: ClientCertificate): void;
  /** The caller whose key demands this certificate. Throws as `find` of the key ring. */
  find(certificate: ClientCertificate, remoteAddress: string): Caller | undefined;
}
