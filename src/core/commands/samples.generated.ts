// Generated from configs/ by `npm run generate`. Do not edit: change the samples and run it again.

/** By name in the folder. */
export const samples: Readonly<Record<string, string>> = {
  'catalog.yaml': `# yaml-language-server: $schema=../schemas/catalog.json
# The providers that requests may be sent to. Applications name an entry and a model: \`"model": "@simulator/any-name"\`.
providers:
  # The simulator answers like a model, without cost or credentials. Some model names make it fail: sim-error-503,
  # sim-slow-2000, sim-cut and more.
  - slug: simulator
    provider: simulator

  # Google Vertex AI. The service account needs the permission aiplatform.endpoints.predict. Its key is read from a file
  # (the path is relative to this file); never paste it here.
  # - slug: vertex
  #   provider: vertex-ai
  #   region: us-central1 # or global, us, eu
  #   service_account: \${file:/run/secrets/vertex-service-account.json}
  #   models: [gemini-3.8-*] # Omit to allow all.

  # Vertex AI without stored credentials: every caller sends its own OAuth token in \`Authorization\`.
  # - slug: vertex-own-token
  #   provider: vertex-ai
  #   project_id: my-project
  #   region: global

  # The Anthropic API.
  # - slug: anthropic
  #   provider: anthropic
  #   api_key: \${env:ANTHROPIC_API_KEY}

  # OpenAI.
  # - slug: openai
  #   provider: openai
  #   api_key: \${env:OPENAI_API_KEY}

  # Any server with an OpenAI-compatible API: vLLM, Ollama, Groq. Omit api_key for a server without keys.
  # - slug: local
  #   provider: openai
  #   base_url: http://127.0.0.1:11434/v1
  #   allow_insecure: true # For plain http, or an address that is not on the internet.

  # Azure OpenAI. Requests name a deployment.
  # - slug: azure
  #   provider: azure-openai
  #   base_url: https://my-resource.openai.azure.com
  #   api_key: \${env:AZURE_OPENAI_API_KEY}
`,
  'gateway/fallback-example.test.yaml': `# yaml-language-server: $schema=../../schemas/test.json
# Tests of the config beside this file. \`gatehouse test\` runs them without a network. Each case is a request, the answers of the
# upstreams, and the expected result.
cases:
  - name: the first target answers, and no other target is tried
    request: { body: { model: any, messages: [{ role: user, content: Hello }] } }
    upstream:
      - answer: Hello to you
    expect:
      target: fails
      attempts: 1
      outbound: { body: { model: sim-error-503, messages: [{ role: user, content: Hello }] } }
      status: 200
      body: { choices: [{ message: { content: Hello to you } }] }

  - name: an overloaded upstream gets one retry, then the second target is tried
    request: { body: { model: any, messages: [{ role: user, content: Hello }] } }
    upstream:
      - status: 503
      - status: 503
      - answer: Hello from the second
    expect:
      attempts: [fails, answers]
      outbound:
        - body: { model: sim-error-503, temperature: null }
        - body: { model: sim-steady, temperature: 0.2 }
      status: 200
      headers: { x-gateway-last-used-option-index: "config.targets[1]" }
      metrics:
        - { name: gatehouse_fallbacks_total, value: 1 }

  - name: a stream that breaks before its first content goes to the second target
    request: { body: { model: any, stream: true, messages: [{ role: user, content: Hello }] } }
    upstream:
      - fault: reset
      - fault: reset
      - answer: Hello from the second
    expect:
      target: answers
      stream: { text: Hello from the second, ends: complete }

  - name: a silent target falls through to the second one after 30 seconds
    request: { body: { model: any, messages: [{ role: user, content: Hello }] } }
    upstream:
      - fault: hang
      - answer: Hello from the second
    expect:
      attempts: [fails, answers]
      target: answers

  - name: an invalid request is invalid everywhere, so no other target is tried
    request: { body: { model: any, messages: [{ role: user, content: Hello }] } }
    upstream:
      - status: 400
        body: { error: { message: "messages: too many" } }
    expect:
      attempts: [fails]
      status: 400
      body: { error: { message: "messages: too many" } }
`,
  'gateway/fallback-example.yaml': `# yaml-language-server: $schema=../../schemas/gateway.json
# A gateway config. Requests select it by the name of this file: \`x-gateway-config: fallback-example\`.
# The first target always fails, so that you can watch the second one answer: the reply has the header
# \`x-gateway-last-used-option-index: config.targets[1]\`.
name: Fallback example

strategy:
  mode: fallback
  on_status_codes: [429, 500, 502, 503, 504]

# Every target inherits these settings unless it sets its own.
provider: "@simulator"
request_timeout: 30s

targets:
  - name: fails
    override_params:
      model: sim-error-503
    retry:
      attempts: 1
      min_delay: 100ms

  - name: answers
    override_params:
      model: sim-steady
      temperature: 0.2
`,
  'keys.yaml': `# yaml-language-server: $schema=../schemas/keys.json
# The keys of applications. \`gatehouse keys create --id NAME\` creates a key, prints it once, and prints the entry to paste here.
# The entry has only a digest, so people who must not have the keys may read this file.
keys:
  # A demo key. It is public, so it works only from this machine and only for the simulator.
  - id: demo
    key: \${env:GATEHOUSE_DEMO_KEY:-gatehouse-demo-key}
    networks: [127.0.0.0/8, "::1/128"]
    providers: ["@simulator"]

  # - id: team-search
  #   digest: sha256:…
  #   expires_at: 2027-01-01T00:00:00Z
  #   providers: ["@vertex", "@anthropic", "@simulator"]
  #   models: [gemini-3.8-*, claude-*, sim-*]
  #   default_config: fallback-example
`,
  'server.yaml': `# yaml-language-server: $schema=../schemas/server.json
# The listeners and limits of Gatehouse. Everything has a default: this file may be empty or missing.
# Your editor shows the meaning of each key and the other keys; \`gatehouse validate\` checks the whole folder.

# Applications send their requests here. It is reachable from this machine only, unless \`host\` or the environment variable
# GATEHOUSE_HOST (0.0.0.0 in a container) opens it.
listen:
  port: 8787

# /metrics, /livez and /readyz, on a separate port. They need no key, so do not publish this port.
status:
  port: 9464

# Load balancers in front of the gateway: X-Forwarded-For and Forwarded are trusted from these networks only.
# trusted_proxies: [10.1.0.0/28]

# The outcome of single requests: /admin/v1/requests/REQUEST_ID. It requires a token on any address other than loopback.
admin:
  host: 127.0.0.1
  port: 8788
  # What people on this machine may do in the console and the admin API: \`operator\` tests and tries out, and writes nothing.
  role: operator
  # Each request can be explained afterwards: its body stays in memory, as one of the latest 100.
  explain: all

# The config for requests without \`x-gateway-config\` whose key has no default. The name is that of a file in gateway/.
# default_config: fallback-example

# Timeouts for upstreams. A catalog entry, a gateway config or a target can set its own.
# timeouts:
#   connect: 5s
#   first_byte: 120s # of streams; 600s for plain replies
#   first_content: 180s
#   idle: 300s
#   total: 900s

# limits:
#   in_flight: 2000
#   in_flight_per_key: 250
#   connections: 1000
#   plugin_time: 30s
#   body: 48MiB
#   json_depth: 64
#   json_keys: 10000
#   json_items: 200000

# The plugins that a request passes, in this order. Write a chain only to change it; list your own plugins in \`plugins\`.
# plugins: [./plugins/tenant-header.mjs]
# chains:
#   request: [metadata, tenant-header, route]

# telemetry:
#   log:
#     level: info
#     access: all
#   traces:
#     endpoint: http://127.0.0.1:4318/v1/traces
`,
};
