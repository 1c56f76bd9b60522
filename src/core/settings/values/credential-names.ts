/** Credentials have many names. A harmless header that is refused can be renamed; a leaked credential cannot be recalled. */
const CREDENTIAL = new RegExp(
  [
    'authori[sz]ation|cookie|token|secret|passw|credential|signature|jwt|assertion|bearer|oidc|saml|^x-goog-user-project$',
    'passphrase|passcode|totp|hmac',
    // `x-auth`, `x-auth-request`; not `x-authenticated-user`, `x-author`.
    '(^|[-_])(auth|authn|authz|creds?|dpop|mfa|otp|pat|pwd|sas|sig)([-_]|$)',
    // `key` and `x-key`, without a word that qualifies the key.
    '^(x[-_])?keys?$',
    // Not every key is a credential: `idempotency-key`. Azure has `ocp-apim-subscription-key` and `x-functions-key`.
    '(access|account|admin|api|app|application|auth|client|customer|encryption|functions|gateway|license|master|private|provider|secure|service|session|shared|signing|storage|subscription|team|user|virtual)[-_]?key',
  ].join('|'),
);

/** @param name of a header or field, in lower case */
export const mayHoldCredential = (name: string): boolean => CREDENTIAL.test(name);
