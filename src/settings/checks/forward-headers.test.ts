import { describe, expect, it } from 'vitest';
import { checkForwardHeaders } from './forward-headers.ts';

function refused(name: string): boolean {
  const messages: string[] = [];
  checkForwardHeaders([name], {
    path: [],
    report: ({ message }) => messages.push(message),
    prefixes: ['x-gateway-', 'x-acme-'],
    credentials: new Map([['x-entrance', '@proxy']]),
  });
  return messages.length > 0;
}

describe('a header that a config forwards', () => {
  // As clients, clouds, proxies and identity providers name them.
  it.each(
    `Authorization AUTHORIZATION Proxy-Authorization x-forwarded-authorization Cookie set-cookie2 x-api-key X_API_KEY apikey
    api-key x-apikey x-rapidapi-key x-goog-api-key x-goog-user-project x-goog-iap-jwt-assertion x-amz-security-token
    x-amz-server-side-encryption-customer-key x-amzn-oidc-data x-amzn-oidc-accesstoken x-ms-authorization-auxiliary
    x-functions-key ocp-apim-subscription-key dd-application-key dd-api-key cf-access-client-secret cf-access-jwt-assertion
    cf-access-token x-vault-token x-csrf-token x-xsrf-token x-auth x-auth-request-access-token helicone-auth x-bearer x-password
    x-secret x-client-secret x-hub-signature-256 x-session-token x-admin-key x-app-key x-signing-key x-otp x-pat x-saml-response
    x-access-key-id x-account-key x-master-key x-service-credential x-gateway-api-key x-gateway-anything X-Acme-Config
    x-portkey-virtual-key x-user-key x-team-key x-provider-key x-key KEY x-creds x-authz dpop x-passphrase x-totp x-sig x-hmac
    x-pwd x-sas x-mfa X-Entrance connection keep-alive Transfer-Encoding te trailer upgrade host content-length content-type expect via accept`
      .trim()
      .split(/\s+/),
  )('may not be %s', (name) => expect(refused(name)).toBe(true));

  it.each(
    `x-tenant x-author x-authenticated-user idempotency-key x-request-source x-cache-key user-agent accept-language anthropic-beta
    openai-organization x-session-id x-correlation-id x-pattern x-compatible traceparent x-key-id
    x-keyboard x-entrance-hall x-signal x-monkey x-credit x-sasquatch`
      .trim()
      .split(/\s+/),
  )('may be %s', (name) => expect(refused(name)).toBe(false));
});
