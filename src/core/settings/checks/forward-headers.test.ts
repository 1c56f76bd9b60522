import { describe, expect, it } from 'vitest';
import { checkForwardHeader } from './forward-headers.ts';

function reported(name: string, severity: 'error' | 'warning', fromCaller: boolean): boolean {
  const messages: string[] = [];
  const rules = { prefixes: ['x-gateway-', 'x-acme-'], credentials: new Map([['x-entrance', '@proxy']]) };
  checkForwardHeader(name, rules, fromCaller, ({ message, severity: its = 'error' }) => {
    if (its === severity) messages.push(message);
  });
  return messages.length > 0;
}

const refused = (name: string): boolean => reported(name, 'error', false);

describe('a header that a stored config forwards', () => {
  // Names that clients, clouds, proxies and identity providers use.
  it.each(
    `Authorization AUTHORIZATION Proxy-Authorization x-forwarded-authorization Cookie set-cookie2 x-api-key X_API_KEY apikey
    api-key x-apikey x-rapidapi-key x-goog-api-key x-goog-user-project x-goog-iap-jwt-assertion x-amz-security-token
    x-amz-server-side-encryption-customer-key x-amzn-oidc-data x-amzn-oidc-accesstoken x-ms-authorization-auxiliary
    x-functions-key ocp-apim-subscription-key dd-application-key dd-api-key cf-access-client-secret cf-access-jwt-assertion
    cf-access-token x-vault-token x-csrf-token x-xsrf-token x-auth x-auth-request-access-token helicone-auth x-bearer x-password
    x-secret x-client-secret x-hub-signature-256 x-session-token x-admin-key x-app-key x-signing-key x-otp x-pat x-saml-response
    x-access-key-id x-account-key x-master-key x-service-credential x-gateway-api-key x-gateway-anything X-Acme-Config
    x-portkey-virtual-key x-user-key x-team-key x-provider-key x-key KEY x-creds x-authz dpop x-passphrase x-totp x-sig x-hmac
    x-pwd x-sas x-mfa X-Entrance connection keep-alive Transfer-Encoding te trailer upgrade host content-length content-type expect via accept
    proxy-authenticate Proxy-Features http2-settings x.api.key x_gateway_config transfer_encoding CONTENT_LENGTH`
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

describe('a header that a config sent with a request forwards', () => {
  const ofCaller = (name: string): boolean => reported(name, 'error', true);

  it.each(
    `openai-organization OpenAI-Project openai_organization anthropic-organization-id anthropic-workspace-id
    x-http-method-override X_HTTP_Method_Override x-method-override x-http-method x-method x-forwarded-for X-Forwarded-Host
    x-forwarded-anything x-forwarded forwarded forwarded-for x-real-ip x-client-ip true-client-ip cf-connecting-ip
    x-cluster-client-ip fastly-client-ip x-original-url x-original-uri x-original-host x-rewrite-url x-envoy-original-path
    x-accel-redirect x-host x-http-host-override x-goog-user-project x-goog-request-params x-goog-fieldmask x-goog-quota-user
    x-vertex-ai-llm-shared-request-type azureml-model-deployment x-ms-client-principal-id x-amz-target x-amzn-trace-id
    x-portkey-config helicone-target-url x-litellm-tags cf-aig-cache-ttl x-gatehouse-config
    x-remote-user remote-user x-authenticated-user x-consumer-username x-webauth-user x-ssl-client-dn
    authorization x-api-key api-key x-goog-api-key cookie set-cookie proxy-authorization proxy-connection connection te
    x-gateway-config x-acme-config host x-scheme x-url-scheme front-end-https x-arr-ssl x-azure-fdid x-openai-organization
    metadata-flavor`
      .trim()
      .split(/\s+/),
  )('may not be %s', (name) => expect(ofCaller(name)).toBe(true));

  it.each(
    `x-tenant x-author idempotency-key x-request-source x-cache-key user-agent accept-language anthropic-beta anthropic-version
    x-session-id x-correlation-id x-request-id traceparent tracestate baggage openai-beta x-title http-referer x-methodology
    x-forwarder forwarding x-originality x-hostess x-sslstrip google-x`
      .trim()
      .split(/\s+/),
  )('may be %s', (name) => expect(ofCaller(name)).toBe(false));
});

describe('a header that steers an upstream, in an operator’s own config', () => {
  it.each(['x-http-method-override', 'x-original-url', 'X-Rewrite-URL'])('is allowed with a warning: %s', (name) => {
    expect([refused(name), reported(name, 'warning', false)]).toEqual([false, true]);
  });

  it.each(['openai-organization', 'x-forwarded-for', 'x-authenticated-user', 'x-tenant'])('is allowed: %s', (name) => {
    expect([refused(name), reported(name, 'warning', false)]).toEqual([false, false]);
  });
});
