CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE experiments (
            id BIGINT PRIMARY KEY CHECK (id >= 1),
            name TEXT NOT NULL UNIQUE,
            seed BIGINT NOT NULL CHECK (seed >= 0),
            created BIGINT NOT NULL
        );
CREATE TABLE log (
            experiment BIGINT NOT NULL REFERENCES experiments (id),
            seq BIGINT NOT NULL CHECK (seq >= 1),
            kind TEXT NOT NULL,
            time BIGINT NOT NULL,
            arm BIGINT CHECK (arm >= 0),
            propensity DOUBLE PRECISION CHECK (propensity > 0 AND propensity <= 1),
            unit TEXT,
            key TEXT,
            decision BIGINT,
            value BIGINT CHECK (value >= 0 AND value <= 1000000),
            happened BIGINT,
            stated BIGINT,
            settings TEXT,
            PRIMARY KEY (experiment, seq),
            CHECK (CASE kind
                WHEN 'decision' THEN arm IS NOT NULL AND decision IS NULL AND value IS NULL AND happened IS NULL AND settings IS NULL
                WHEN 'conversion' THEN
                    arm IS NULL AND decision IS NOT NULL AND decision < seq
                    AND value IS NOT NULL AND happened IS NOT NULL AND settings IS NULL
                WHEN 'retraction' THEN arm IS NULL AND decision IS NOT NULL AND decision < seq AND value IS NULL AND settings IS NULL
                WHEN 'change' THEN arm IS NULL AND decision IS NULL AND settings IS NOT NULL
                ELSE FALSE END)
        );
CREATE UNIQUE INDEX log_key ON log (experiment, key) WHERE key IS NOT NULL;
CREATE INDEX log_unit ON log (experiment, unit, seq) WHERE unit IS NOT NULL;
CREATE UNIQUE INDEX log_outcome ON log (experiment, decision, kind) WHERE decision IS NOT NULL;
CREATE INDEX log_change ON log (experiment, seq) WHERE settings IS NOT NULL;
CREATE TABLE snapshots (
            experiment BIGINT PRIMARY KEY REFERENCES experiments (id),
            seq BIGINT NOT NULL,
            code TEXT NOT NULL,
            state BYTEA NOT NULL
        );
CREATE TABLE keys (
            id TEXT PRIMARY KEY,
            hash TEXT NOT NULL UNIQUE,
            note TEXT NOT NULL,
            scopes TEXT NOT NULL,
            created BIGINT NOT NULL,
            revoked BIGINT
        );
CREATE TABLE longer_log (
            experiment BIGINT NOT NULL REFERENCES experiments (id),
            seq BIGINT NOT NULL CHECK (seq >= 1),
            kind TEXT NOT NULL,
            time BIGINT NOT NULL,
            arm BIGINT CHECK (arm >= 0),
            propensity DOUBLE PRECISION CHECK (propensity > 0 AND propensity <= 1),
            unit TEXT,
            key TEXT,
            decision BIGINT,
            value BIGINT CHECK (value >= 0 AND value <= 1000000),
            happened BIGINT,
            stated BIGINT,
            settings TEXT,
            about BIGINT,
            PRIMARY KEY (experiment, seq),
            CHECK (CASE kind
                WHEN 'decision' THEN arm IS NOT NULL AND decision IS NULL AND value IS NULL AND happened IS NULL AND settings IS NULL AND about IS NULL
                WHEN 'conversion' THEN
                    arm IS NULL AND decision IS NOT NULL AND decision < seq
                    AND value IS NOT NULL AND happened IS NOT NULL AND settings IS NULL
                    AND about IS NULL
                WHEN 'retraction' THEN arm IS NULL AND decision IS NOT NULL AND decision < seq AND value IS NULL AND settings IS NULL AND about IS NULL
                WHEN 'change' THEN arm IS NULL AND decision IS NULL AND settings IS NOT NULL AND about IS NULL
                WHEN 'order' THEN arm IS NULL AND decision IS NULL AND unit IS NOT NULL AND value IS NOT NULL AND happened IS NOT NULL AND settings IS NULL AND about IS NULL
                WHEN 'withdrawal' THEN arm IS NULL AND decision IS NULL AND unit IS NULL AND value IS NULL AND settings IS NULL AND about IS NOT NULL AND about < seq
                WHEN 'alias' THEN arm IS NULL AND decision IS NULL AND unit IS NOT NULL AND key IS NOT NULL AND value IS NULL AND settings IS NULL AND about IS NULL
                WHEN 'credit' THEN arm IS NULL AND decision IS NULL AND unit IS NULL AND value IS NOT NULL AND (value = 0 OR happened IS NOT NULL) AND settings IS NULL AND about IS NOT NULL AND about < seq
                ELSE FALSE END)
        );
INSERT INTO longer_log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings) SELECT experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings FROM log ORDER BY experiment, seq;
DROP TABLE log;
ALTER TABLE longer_log RENAME TO log;
CREATE UNIQUE INDEX log_key ON log (experiment, key) WHERE kind = 'decision' AND key IS NOT NULL;
CREATE INDEX log_unit ON log (experiment, kind, unit, seq) WHERE unit IS NOT NULL;
CREATE INDEX log_order ON log (experiment, key, seq) WHERE kind = 'order' AND key IS NOT NULL;
CREATE INDEX log_alias ON log (experiment, key) WHERE kind = 'alias' AND key IS NOT NULL;
CREATE UNIQUE INDEX log_outcome ON log (experiment, decision, kind) WHERE decision IS NOT NULL;
CREATE INDEX log_about ON log (experiment, about, kind, seq) WHERE about IS NOT NULL;
CREATE INDEX log_change ON log (experiment, seq) WHERE settings IS NOT NULL;
ALTER TABLE log ADD COLUMN chain BYTEA;
CREATE TABLE goal_log (
            experiment BIGINT NOT NULL REFERENCES experiments (id),
            seq BIGINT NOT NULL CHECK (seq >= 1),
            kind TEXT NOT NULL,
            time BIGINT NOT NULL,
            arm BIGINT CHECK (arm >= 0),
            propensity DOUBLE PRECISION CHECK (propensity > 0 AND propensity <= 1),
            unit TEXT,
            key TEXT,
            decision BIGINT,
            value BIGINT CHECK (value >= 0 AND value <= 1000000),
            happened BIGINT,
            stated BIGINT,
            settings TEXT,
            about BIGINT,
            chain BYTEA,
            goal TEXT,
            PRIMARY KEY (experiment, seq),
            CHECK (CASE kind
                WHEN 'decision' THEN arm IS NOT NULL AND decision IS NULL AND value IS NULL AND (happened IS NULL OR happened <= time) AND settings IS NULL AND about IS NULL
                WHEN 'conversion' THEN
                    arm IS NULL AND decision IS NOT NULL AND decision < seq
                    AND value IS NOT NULL AND happened IS NOT NULL AND settings IS NULL
                    AND about IS NULL
                WHEN 'retraction' THEN arm IS NULL AND decision IS NOT NULL AND decision < seq AND value IS NULL AND settings IS NULL AND about IS NULL
                WHEN 'change' THEN arm IS NULL AND decision IS NULL AND settings IS NOT NULL AND about IS NULL
                WHEN 'order' THEN arm IS NULL AND decision IS NULL AND unit IS NOT NULL AND value IS NOT NULL AND happened IS NOT NULL AND settings IS NULL AND about IS NULL
                WHEN 'withdrawal' THEN arm IS NULL AND decision IS NULL AND unit IS NULL AND value IS NULL AND settings IS NULL AND about IS NOT NULL AND about < seq
                WHEN 'alias' THEN arm IS NULL AND decision IS NULL AND unit IS NOT NULL AND key IS NOT NULL AND value IS NULL AND settings IS NULL AND about IS NULL
                WHEN 'credit' THEN arm IS NULL AND decision IS NULL AND unit IS NULL AND value IS NOT NULL AND (value = 0 OR happened IS NOT NULL) AND settings IS NULL AND about IS NOT NULL AND about < seq
                WHEN 'goal' THEN arm IS NULL AND decision IS NULL AND settings IS NULL AND value IS NOT NULL AND happened IS NOT NULL AND ((unit IS NOT NULL AND about IS NULL) OR (unit IS NULL AND key IS NULL AND about < seq))
                ELSE FALSE END),
            CHECK ((kind = 'goal') = (goal IS NOT NULL))
        );
INSERT INTO goal_log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, chain) SELECT experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, chain FROM log ORDER BY experiment, seq;
DROP TABLE log;
ALTER TABLE goal_log RENAME TO log;
CREATE UNIQUE INDEX log_key ON log (experiment, key) WHERE kind = 'decision' AND key IS NOT NULL;
CREATE INDEX log_unit ON log (experiment, kind, unit, seq) WHERE unit IS NOT NULL;
CREATE INDEX log_order ON log (experiment, key, seq) WHERE kind = 'order' AND key IS NOT NULL;
CREATE INDEX log_goal ON log (experiment, key, seq) WHERE kind = 'goal' AND key IS NOT NULL;
CREATE INDEX log_made ON log (experiment, arm, (COALESCE(happened, time))) WHERE kind = 'decision';
CREATE INDEX log_alias ON log (experiment, key) WHERE kind = 'alias' AND key IS NOT NULL;
CREATE UNIQUE INDEX log_outcome ON log (experiment, decision, kind) WHERE decision IS NOT NULL;
CREATE INDEX log_about ON log (experiment, about, kind, seq) WHERE about IS NOT NULL;
CREATE INDEX log_change ON log (experiment, seq) WHERE settings IS NOT NULL;
INSERT INTO facts VALUES ('program', 'patientbandits live');
INSERT INTO facts VALUES ('version', '4');
INSERT INTO facts VALUES ('secret', '5a5b8ce7287ea87534ca1e865a269774f0dc8f7c57b87c329813b15d8ce86b71');
INSERT INTO facts VALUES ('seal', 'cf663c60b846f7ccd8d22ee4914ceeb0');
INSERT INTO experiments (id, name, seed, created) VALUES (1, 'button', 4, 1700000000000000);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 1, 'change', 1700000000000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"arms":["red","green","blue"],"policy":{"policy":"UCB1"},"retired":[],"window":86400.0,"sticky":true,"paused":false,"scale":20.0,"credit":"first","control":null,"currency":null,"goals":["order","cart"],"imported":0}', NULL, NULL,  E'\\224\\322v\\344\\007\\222 \\017\\317\\332\\361\\\\/4Dp'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 2, 'decision', 1700000000000000, 1, NULL, 'visitor 0', 'key 0', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\200\\000\\320\\211ah\\322\\243`\\274@\\357\\300,\\014\\314'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 3, 'decision', 1700000007250000, 0, NULL, 'visitor 1', 'key 1', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\263>Q\\262\\260\\224!>)D\\265\\246J\\200n\\035'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 4, 'order', 1700000007250000, NULL, NULL, 'visitor 1', 'order 1', NULL, 50000, 1700000007250000, NULL, NULL, NULL, NULL,  E'8\\263w\\322\\234\\214H\\304\\017?@\\351|\\304\\321/'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 5, 'credit', 1700000007250000, NULL, NULL, NULL, NULL, NULL, 50000, 1700000007250000, NULL, NULL, 3, NULL,  E'8\\244\\241\\245[\\361\\030\\24354\\250ybe\\3260'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 6, 'decision', 1700000021750000, 2, NULL, 'visitor 2', 'key 2', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\017\\010P\\343\\315\\330~\\257\\343A\\301\\375\\336\\3743Z'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 7, 'goal', 1700000021750000, NULL, NULL, 'visitor 2', 'cart 2', NULL, 50000, 1700000021750000, NULL, NULL, NULL, 'cart',  E'9\\037\\\\\\212g\\216\\210\\275(\\212H\\276\\231\\3121E'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 8, 'decision', 1700000043500000, 2, 0.5, 'visitor 3', NULL, NULL, NULL, 1700000043500000, NULL, NULL, NULL, NULL,  E'\\001\\354\\231\\3740\\0256\\347~\\233!\\315\\355\\365\\351B'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 9, 'decision', 1700000072500000, 0, NULL, 'visitor 4', 'key 4', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'''\\361\\331v\\252[\\3233\\323\\003\\342\\331\\007:\\310`'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 10, 'order', 1700000072500000, NULL, NULL, 'visitor 4', 'order 4', NULL, 200000, 1700000072500000, NULL, NULL, NULL, NULL,  E'\\347\\367\\000\\220\\034\\003\\346\\326\\327d\\024\\316\\202\\235,\\010'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 11, 'credit', 1700000072500000, NULL, NULL, NULL, NULL, NULL, 200000, 1700000072500000, NULL, NULL, 9, NULL,  E'C\\236V\\323\\217\\271Uyo\\355\\211\\013\\007''e\\257'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 12, 'alias', 1700000072500000, NULL, NULL, 'visitor 4', 'account 4', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'{\\001\\267\\022j1\\270\\275q\\366\\276\\373r\\253^\\026'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 13, 'decision', 1700000072500000, 1, NULL, 'visitor 5', 'key 5', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E':P`U=h\\323k\\332\\254\\373\\334\\252gE\\277'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 14, 'decision', 1700000079750000, 0, NULL, 'visitor 6', 'key 6', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\315\\177\\316\\347\\012\\031\\233aX?\\024\\372"f\\3461'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 15, 'decision', 1700000094250000, 2, 0.5, 'visitor 7', NULL, NULL, NULL, 1700000094250000, NULL, NULL, NULL, NULL,  E'"\\306\\0304e\\010\\367\\326\\020VX\\303\\233\\216S\\330'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 16, 'order', 1700000094250000, NULL, NULL, 'visitor 7', 'order 7', NULL, 0, 1700000094250000, NULL, NULL, NULL, NULL,  E'\\202\\357P\\316\\270WsP\\227$l\\200\\221\\307\\217\\024'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 17, 'goal', 1700000094250000, NULL, NULL, 'visitor 7', 'cart 7', NULL, 50000, 1700000094250000, NULL, NULL, NULL, 'cart',  E'Z\\030\\243[\\277G\\037N\\033\\363\\024)\\222\\0231W'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 18, 'decision', 1700000116000000, 1, NULL, 'visitor 8', 'key 8', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\2777G\\010\\016\\014\\025\\023\\341\\357<\\205\\314\\344\\354\\377'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 19, 'decision', 1700000145000000, 0, NULL, 'visitor 9', 'key 9', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\0137\\021\\321\\231^0)\\360\\373\\253\\245w\\310Z!'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 20, 'decision', 1700000145000000, 1, NULL, 'visitor 10', 'key 10', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\322\\365p\\272\\342\\316(u\\225\\253\\023\\247\\025p\\255\\232'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 21, 'order', 1700000145000000, NULL, NULL, 'visitor 10', 'order 10', NULL, 150000, 1700000145000000, NULL, NULL, NULL, NULL,  E'\\236.?\\354;\\303:\\262\\002h\\002\\033\\273\\021\\227\\263'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 22, 'credit', 1700000145000000, NULL, NULL, NULL, NULL, NULL, 150000, 1700000145000000, NULL, NULL, 20, NULL,  E'yhri\\337\\324\\244\\261\\247\\301:\\003u\\013\\305\\241'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 23, 'withdrawal', 1700000145000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 21, NULL,  E'\\350\\307\\021\\331\\256\\370Z\\352\\361\\034%\\260\\210\\325\\372\\354'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 24, 'credit', 1700000145000000, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, 20, NULL,  E'\\366\\321y\\367\\242\\270\\215#\\271\\375\\266c\\2068\\027g'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 25, 'decision', 1700000152250000, 2, 0.5, 'visitor 11', NULL, NULL, NULL, 1700000152250000, NULL, NULL, NULL, NULL,  E'TQ\\272F\\260\\216\\013\\015\\334\\246\\2557\\345\\030\\224Q'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 26, 'decision', 1700000166750000, 0, NULL, 'visitor 12', 'key 12', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\210\\217C\\255\\012''\\201\\301\\302\\253y\\001\\275T\\254\\012'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 27, 'goal', 1700000166750000, NULL, NULL, 'visitor 12', 'cart 12', NULL, 50000, 1700000166750000, NULL, NULL, NULL, 'cart',  E'\\261\\017{C\\324+04\\177\\353\\373\\032\\013\\314\\217\\233'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 28, 'decision', 1700000188500000, 2, NULL, 'visitor 13', 'key 13', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'Q\\021\\323\\226?L\\262\\316V\\263B-H\\364\\024v'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 29, 'order', 1700000188500000, NULL, NULL, 'visitor 13', 'order 13', NULL, 300000, 1700000188500000, NULL, NULL, NULL, NULL,  E'\\330\\360\\271a\\256_\\344\\300\\321S\\246\\236\\264\\276\\332\\345'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 30, 'credit', 1700000188500000, NULL, NULL, NULL, NULL, NULL, 300000, 1700000188500000, NULL, NULL, 28, NULL,  E'\\026\\363\\324\\260K\\307\\305\\304\\011\\021&\\321\\356\\206_Q'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 31, 'decision', 1700000217500000, 1, NULL, 'visitor 14', 'key 14', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\225\\302\\215e\\020k \\017\\034\\266H\\036\\326\\201\\027\\214'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 32, 'decision', 1700000217500000, 2, 0.5, 'visitor 15', NULL, NULL, NULL, 1700000217500000, NULL, NULL, NULL, NULL,  E'\\312\\241\\336+,/\\221\\313\\011\\214\\276\\267\\354\\255@d'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 33, 'alias', 1700000217500000, NULL, NULL, 'visitor 15', 'account 15', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\235|\\300\\011T\\351\\032]\\345\\242\\373\\323]!,\\221'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 34, 'decision', 1700000224750000, 0, NULL, 'visitor 16', 'key 16', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\310cT\\2373\\303`\\273w\\374Y\\362\\273\\254|\\251'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 35, 'order', 1700000224750000, NULL, NULL, 'visitor 16', 'order 16', NULL, 100000, 1700000224750000, NULL, NULL, NULL, NULL,  E'>\\351\\366\\205\\214\\204\\364\\226Mrj\\2650\\314!a'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 36, 'credit', 1700000224750000, NULL, NULL, NULL, NULL, NULL, 100000, 1700000224750000, NULL, NULL, 34, NULL,  E'\\317\\373{\\265-i\\251+3j\\022\\024''\\216\\016w'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 37, 'decision', 1700000239250000, 1, NULL, 'visitor 17', 'key 17', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\346\\361\\350R\\345`\\027]@\\022\\026-\\206\\203\\316\\355'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 38, 'goal', 1700000239250000, NULL, NULL, 'visitor 17', 'cart 17', NULL, 50000, 1700000239250000, NULL, NULL, NULL, 'cart',  E'c\\234A\\364\\302\\375\\310as\\3569\\312+\\202\\311Z'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 39, 'decision', 1700000261000000, 0, NULL, 'visitor 18', 'key 18', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\324\\027\\347k\\255\\031-\\264)&{\\335(\\214!\\210'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 40, 'decision', 1700000290000000, 2, 0.5, 'visitor 19', NULL, NULL, NULL, 1700000290000000, NULL, NULL, NULL, NULL,  E'k\\261\\206\\361\\325\\220\\034\\320!\\304\\177<\\262s\\311\\217'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 41, 'order', 1700000290000000, NULL, NULL, 'visitor 19', 'order 19', NULL, 250000, 1700000290000000, NULL, NULL, NULL, NULL,  E'`\\036\\232.\\226>`;\\310\\034y\\274\\025\\274\\264z'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 42, 'credit', 1700000290000000, NULL, NULL, NULL, NULL, NULL, 250000, 1700000290000000, NULL, NULL, 40, NULL,  E'b\\200Gf7\\027xT\\244\\322\\246\\343\\245\\256\\347:'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 43, 'decision', 1700000290000000, 2, NULL, 'visitor 20', 'key 20', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\202\\377Y\\311\\340\\220G\\302\\220~\\377\\231\\001)\\224I'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 44, 'decision', 1700000297250000, 1, NULL, 'visitor 21', 'key 21', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'S\\013\\335|#d\\022*\\312\\314\\345#g\\363]\\263'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 45, 'decision', 1700000311750000, 0, NULL, 'visitor 22', 'key 22', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'x\\244\\356\\224\\314S\\265\\253\\274\\366\\213\\022\\036K\\3339'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 46, 'order', 1700000311750000, NULL, NULL, 'visitor 22', 'order 22', NULL, 50000, 1700000311750000, NULL, NULL, NULL, NULL,  E'\\357;\\253\\327s\\020\\001b\\230\\326>\\262\\0016\\317~'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 47, 'credit', 1700000311750000, NULL, NULL, NULL, NULL, NULL, 50000, 1700000311750000, NULL, NULL, 45, NULL,  E'\\352\\013C\\007\\30247\\017,\\211\\376\\252@*s\\232'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 48, 'goal', 1700000311750000, NULL, NULL, 'visitor 22', 'cart 22', NULL, 50000, 1700000311750000, NULL, NULL, NULL, 'cart',  E'\\3556\\312\\244\\273\\357\\260iV\\252a\\177zE\\213t'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 49, 'withdrawal', 1700000311750000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 46, NULL,  E'\\207\\012&(\\343\\000Q\\202{\\241T\\304\\227g\\277\\206'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 50, 'credit', 1700000311750000, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, 45, NULL,  E'\\322\\203\\212:FOPx\\274?\\253\\377\\217\\246\\230\\246'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 51, 'decision', 1700000333500000, 2, 0.5, 'visitor 23', NULL, NULL, NULL, 1700000333500000, NULL, NULL, NULL, NULL,  E'S\\267\\244ZmQ\\275\\223\\344\\227\\225C0\\347=\\353'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 52, 'decision', 1700000362500000, 1, NULL, 'visitor 24', 'key 24', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'|i\\301\\224*\\370=\\235\\367\\302a\\005\\012\\327?\\022'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 53, 'decision', 1700000362500000, 0, NULL, 'visitor 25', 'key 25', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'7\\351\\021\\246\\030\\304t\\234\\237\\025w\\332\\206\\233}8'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 54, 'order', 1700000362500000, NULL, NULL, 'visitor 25', 'order 25', NULL, 200000, 1700000362500000, NULL, NULL, NULL, NULL,  E'\\205\\301\\015F{\\367\\361`\\274t\\304\\200\\335\\312\\021\\231'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 55, 'credit', 1700000362500000, NULL, NULL, NULL, NULL, NULL, 200000, 1700000362500000, NULL, NULL, 53, NULL,  E'\\016\\2631V\\215~+ 0\\243s\\334\\003Ba\\247'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 56, 'decision', 1700000369750000, 2, NULL, 'visitor 26', 'key 26', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'D\\225%\\243\\203\\326{Z\\366\\001\\254\\225`s{q'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 57, 'alias', 1700000369750000, NULL, NULL, 'visitor 26', 'account 26', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'Vw\\020T\\247\\230\\216;\\004IDkf\\304P\\004'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 58, 'decision', 1700000384250000, 2, 0.5, 'visitor 27', NULL, NULL, NULL, 1700000384250000, NULL, NULL, NULL, NULL,  E'\\2501\\\\\\240h\\205\\3234\\026\\366\\227D\\361\\021\\217\\377'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 59, 'goal', 1700000384250000, NULL, NULL, 'visitor 27', 'cart 27', NULL, 50000, 1700000384250000, NULL, NULL, NULL, 'cart',  E'\\351\\240\\212\\327\\342\\304_\\334Qo\\320\\2574\\2560\\013'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 60, 'decision', 1700000406000000, 0, NULL, 'visitor 28', 'key 28', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\034\\327\\342\\354\\226P4\\253\\254\\016\\024\\217\\373\\252\\345\\016'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 61, 'order', 1700000406000000, NULL, NULL, 'visitor 28', 'order 28', NULL, 0, 1700000406000000, NULL, NULL, NULL, NULL,  E'\\266H\\002\\007G\\311\\034\\313\\232\\341\\201\\265\\352[^('::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 62, 'decision', 1700000435000000, 1, NULL, 'visitor 29', 'key 29', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'>**\\367)''\\330l\\3231\\273h\\266q/['::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 63, 'decision', 1700000435000000, 0, NULL, 'visitor 30', 'key 30', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'|2B\\3134\\217\\336\\233^Ov\\273J\\010@&'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 64, 'decision', 1700000442250000, 2, 0.5, 'visitor 31', NULL, NULL, NULL, 1700000442250000, NULL, NULL, NULL, NULL,  E'7R\\335\\000\\235$\\270\\017\\377\\005\\320\\365x\\321\\024Y'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 65, 'order', 1700000442250000, NULL, NULL, 'visitor 31', 'order 31', NULL, 150000, 1700000442250000, NULL, NULL, NULL, NULL,  E'hVc{V\\257kU\\336`\\023\\336\\325\\274\\204\\311'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 66, 'credit', 1700000442250000, NULL, NULL, NULL, NULL, NULL, 150000, 1700000442250000, NULL, NULL, 64, NULL,  E'2\\007\\374\\202\\010\\012\\002v\\023s*\\337y\\231\\277n'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 67, 'decision', 1700000456750000, 1, NULL, 'visitor 32', 'key 32', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'~@C\\211\\2633\\200\\225\\255Tk@\\254\\211\\372 '::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 68, 'goal', 1700000456750000, NULL, NULL, 'visitor 32', 'cart 32', NULL, 50000, 1700000456750000, NULL, NULL, NULL, 'cart',  E'6\\277\\207e\\264>\\023d\\324#\\355>''\\310\\337C'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 69, 'decision', 1700000478500000, 0, NULL, 'visitor 33', 'key 33', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\222\\031.Rp\\024\\206"9\\022\\345F&\\260\\032\\035'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 70, 'decision', 1700000507500000, 1, NULL, 'visitor 34', 'key 34', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\330\\372\\217\\355;%\\265\\313\\010:\\030\\264\\302\\031\\337d'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 71, 'order', 1700000507500000, NULL, NULL, 'visitor 34', 'order 34', NULL, 300000, 1700000507500000, NULL, NULL, NULL, NULL,  E'\\030\\273QP\\001y`?+\\234R#\\312\\325\\313a'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 72, 'credit', 1700000507500000, NULL, NULL, NULL, NULL, NULL, 300000, 1700000507500000, NULL, NULL, 70, NULL,  E'\\331\\007\\265(\\030\\312\\236\\224h\\320\\261\\251E\\225.\\031'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 73, 'withdrawal', 1700000507500000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 71, NULL,  E'I\\025\\007\\200\\226\\210]\\216\\227\\345I\\262I\\030\\247\\214'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 74, 'credit', 1700000507500000, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, 70, NULL,  E'\\203\\234\\026L\\235\\221\\251\\034:!;cLB=9'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 75, 'decision', 1700000507500000, 2, 0.5, 'visitor 35', NULL, NULL, NULL, 1700000507500000, NULL, NULL, NULL, NULL,  E'U\\304\\317(\\357aw\\271\\333\\244<\\344\\2571nT'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 76, 'decision', 1700000514750000, 0, NULL, 'visitor 36', 'key 36', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'_\\344\\000hZ@iK\\306%U\\021>\\010\\335\\274'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 77, 'decision', 1700000529250000, 1, NULL, 'visitor 37', 'key 37', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'$\\007\\347\\322\\335\\204\\371\\300\\240\\222fg\\252o$\\250'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 78, 'order', 1700000529250000, NULL, NULL, 'visitor 37', 'order 37', NULL, 100000, 1700000529250000, NULL, NULL, NULL, NULL,  E'\\255\\336\\371\\324F\\002\\006\\033\\225\\357e\\273\\206\\236\\373\\374'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 79, 'credit', 1700000529250000, NULL, NULL, NULL, NULL, NULL, 100000, 1700000529250000, NULL, NULL, 77, NULL,  E'r\\213\\007\\364\\314+G\\0336\\177[q\\273\\363\\270i'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 80, 'goal', 1700000529250000, NULL, NULL, 'visitor 37', 'cart 37', NULL, 50000, 1700000529250000, NULL, NULL, NULL, 'cart',  E'\\361\\234 \\224\\354\\333\\350\\243\\371ud#\\372l\\225`'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 81, 'alias', 1700000529250000, NULL, NULL, 'visitor 37', 'account 37', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\221\\010E34\\207r\\265\\220\\2230\\257\\367\\035LW'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 82, 'decision', 1700000551000000, 2, NULL, 'visitor 38', 'key 38', NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\267\\011\\276\\261\\330\\336x\\313\\032T\\246q\\304\\305\\260\\251'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) VALUES (1, 83, 'decision', 1700000580000000, 2, 0.5, 'visitor 39', NULL, NULL, NULL, 1700000580000000, NULL, NULL, NULL, NULL,  E'\\011%\\316\\002h\\223(\\307\\344\\366\\316gu(\\372\\300'::bytea);
