-- For wrk. BODY: file; HEADERS: "name: value|name: value"; TARGET_PATH.
local file = assert(io.open(os.getenv("BODY"), "rb"))
local body = file:read("*a")
file:close()
local headers = { ["content-type"] = "application/json" }
for name, value in string.gmatch(os.getenv("HEADERS"), "([^|:]+): ([^|]*)") do headers[name] = value end
local text
init = function() text = wrk.format("POST", os.getenv("TARGET_PATH"), headers, body) end
request = function() return text end
done = function(summary)
  local errors = summary.errors
  local lost = errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format("@@%d %d %d\n", summary.requests, errors.status, lost))
end
