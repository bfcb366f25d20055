// node evaluate.mjs URL KEY: what npm's clients make of the service, as JSON
import { OpenFeature } from "@openfeature/server-sdk";
import { OFREPProvider } from "@openfeature/ofrep-provider";
import { OFREPApi } from "@openfeature/ofrep-core";
import { OpenFeature as WebOpenFeature } from "@openfeature/web-sdk";
import { OFREPWebProvider } from "@openfeature/ofrep-web-provider";

const [url, key] = process.argv.slice(2);
const headers = [["Authorization", `Bearer ${key}`]];
await OpenFeature.setProviderAndWait(new OFREPProvider({ baseUrl: url, headers }));
const client = OpenFeature.getClient();
const visitor = { targetingKey: "node-1", country: "CH", visits: 3 };
const found = {};
found.text = await client.getStringDetails("checkout", "default", visitor);
found.again = await client.getStringDetails("checkout", "default", visitor);
found.flag = await client.getBooleanDetails("banner", false, visitor);
found.number = await client.getNumberDetails("price", -1, visitor);
found.wrong_type = await client.getBooleanDetails("checkout", false, visitor);
found.missing = await client.getStringDetails("none", "default", visitor);
found.nobody = await client.getStringDetails("checkout", "default", {});
found.paused = await client.getStringDetails("paused", "default", visitor);

const api = new OFREPApi(url);
const all = { context: { targetingKey: "node-2" } };
const first = await api.postBulkEvaluateFlags(all, { headers });
const tag = first.httpResponse.headers.get("ETag");
const second = await api.postBulkEvaluateFlags(all, {
  headers: [...headers, ["If-None-Match", tag]],
});
found.bulk = { first: first.value, second: second.httpStatus };

const web = new OFREPWebProvider({ baseUrl: url, headers, pollInterval: -1 });
await WebOpenFeature.setContext({ targetingKey: "node-3" });
await WebOpenFeature.setProviderAndWait(web);
const page = WebOpenFeature.getClient();
found.web = page.getStringDetails("checkout", "default");
found.web_flag = page.getBooleanDetails("banner", false);
await WebOpenFeature.close();

console.log(JSON.stringify(found));
process.exit(0);
