// Generated from configs/ by `npm run generate`. Do not edit: change the samples and run it again.

/** By name in the folder. */
export const samples: Readonly<Record<string, string>> = {
  'catalog.yaml': `# yaml-language-server: $schema=../schemas/catalog.json
# The providers requests may be sent to. Applications name an entry and a model: \`"model": "@simulator/any-name"\`.
providers:
  # Answers like a model, costs nothing and needs no credentials. By model name it also fails on purpose: sim-error-503,
  # sim-slow-2000, sim-cut and more.
  - slug: simulator
    provider: simulator

  # Google Vertex AI. The service account needs the permission aiplatform.endpoints.predict. Its key is read from a file
  # (the path counts from this one); never paste it here.
  # - slug: vertex
  #   provider: vertex-ai
  #   region: us-central1 # or global, us, eu
  #   service_account: \${file:/run/secrets/vertex-service-account.json}
  #   models: [gemini-2.5-*] # Leave out to allow all.

  # Vertex AI without stored credentials: every caller sends an OAuth token of its own in \`Authorization\`.
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

  # Any server that speaks OpenAI's API: vLLM, Ollama, Groq. One that asks for no key needs no api_key here.
  # - slug: local
  #   provider: openai
  #   base_url: http://127.0.0.1:11434/v1
  #   allow_insecure: true # Plain http, or an address that is not on the internet.

  # Azure OpenAI. Requests name a deployment.
  # - slug: azure
  #   provider: azure-openai
  #   base_url: https://my-resource.openai.azure.com
  #   api_key: \${env:AZURE_OPENAI_API_KEY}
`,
  'gateway/fallback-example.test.yaml': `# yaml-language-server: $schema=../../schemas/test.json
# What the config beside this file should do: \`gatehouse test\` says whether it does, without a network. Each case is a request, what
# the upstreams answer to it, and what should come of it.
cases:
  - name: the first target answers, and nobody else is asked
    request: { body: { model: any, messages: [{ role: user, content: Hello }] } }
    upstream:
      - answer: Hello to you
    expect:
      target: fails
      attempts: 1
      outbound: { body: { model: sim-error-503, messages: [{ role: user, content: Hello }] } }
      status: 200
      body: { choices: [{ message: { content: Hello to you } }] }

  - name: an upstream that is overloaded is asked once more, then the second target
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

  - name: a target that says nothing is left for the second one after 30 seconds
    request: { body: { model: any, messages: [{ role: user, content: Hello }] } }
    upstream:
      - fault: hang
      - answer: Hello from the second
    expect:
      attempts: [fails, answers]
      target: answers

  - name: a request that is wrong is wrong everywhere, so nobody else is asked
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
# A gateway config: requests choose it by the name of this file, \`x-gateway-config: fallback-example\`.
# The first target always fails, so that you can watch the second one answer: the reply's header
# \`x-gateway-last-used-option-index\` says \`config.targets[1]\`.
name: Fallback example

strategy:
  mode: fallback
  on_status_codes: [429, 500, 502, 503, 504]

# What stands here holds for every target that does not say otherwise.
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
# The keys applications use. \`gatehouse keys create --id NAME\` makes one, prints it once and prints the entry to paste here:
# that has only a digest, so this file can be read by people who must not have the keys.
keys:
  # For a first look. Everybody knows this key, so it works from this machine only, and for the simulator only.
  - id: demo
    key: \${env:GATEHOUSE_DEMO_KEY:-gatehouse-demo-key}
    networks: [127.0.0.0/8, "::1/128"]
    providers: ["@simulator"]

  # - id: team-search
  #   digest: sha256:…
  #   expires_at: 2027-01-01T00:00:00Z
  #   providers: ["@vertex", "@anthropic"]
  #   models: [gemini-2.5-*, claude-*]
  #   default_config: fallback-example
`,
  'server.yaml': `# yaml-language-server: $schema=../schemas/server.json
# Where Gatehouse listens and what it accepts. All of it has defaults: this file may be empty, or not be there.
# Your editor shows what each key means and what else there is; \`gatehouse validate\` checks the whole folder.

# Applications send their requests here. Only this machine reaches it, until \`host\` or GATEHOUSE_HOST in the environment
# (0.0.0.0 in a container) opens it.
listen:
  port: 8787

# /metrics, /livez and /readyz, on a port of their own: they need no key, so do not publish it.
status:
  port: 9464

# Load balancers before the gateway: from these networks X-Forwarded-For and Forwarded say where a request comes from.
# trusted_proxies: [10.1.0.0/28]

# What became of single requests: /admin/v1/requests/REQUEST_ID. Beyond loopback it takes a token.
admin:
  host: 127.0.0.1
  port: 8788

# For requests that name no config by \`x-gateway-config\` and whose key has none. The name is that of a file in gateway/.
# default_config: fallback-example

# How long to wait for an upstream. A catalog entry, a gateway config or a target may say otherwise.
# timeouts:
#   connect: 5s
#   first_byte: 120s
#   first_content: 180s
#   idle: 60s
#   total: 600s

# limits:
#   in_flight: 1000
#   in_flight_per_key: 250
#   connections: 1000
#   plugin_time: 30s
#   body: 48MiB
#   json_depth: 64
#   json_keys: 10000
#   json_items: 200000

# The plugins a request passes, in this order. List a chain only to change it; plugins of your own are named in \`plugins\`.
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
