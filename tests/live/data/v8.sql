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
CREATE INDEX log_alias ON log (experiment, key) WHERE kind = 'alias' AND key IS NOT NULL;
CREATE UNIQUE INDEX log_outcome ON log (experiment, decision, kind) WHERE decision IS NOT NULL;
CREATE INDEX log_about ON log (experiment, about, kind, seq) WHERE about IS NOT NULL;
CREATE INDEX log_change ON log (experiment, seq) WHERE settings IS NOT NULL;
CREATE TABLE assignment_log (
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
                WHEN 'assignment' THEN arm IS NOT NULL AND decision IS NULL AND unit IS NOT NULL AND key IS NULL AND value IS NULL AND happened IS NULL AND settings IS NULL AND about IS NULL
ELSE FALSE END),
            CHECK ((kind = 'goal') = (goal IS NOT NULL))
        );
INSERT INTO assignment_log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain) SELECT experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, chain FROM log ORDER BY experiment, seq;
DROP TABLE log;
ALTER TABLE assignment_log RENAME TO log;
CREATE UNIQUE INDEX log_key ON log (experiment, key) WHERE kind = 'decision' AND key IS NOT NULL;
CREATE INDEX log_unit ON log (experiment, kind, unit, seq) WHERE unit IS NOT NULL;
CREATE INDEX log_order ON log (experiment, key, seq) WHERE kind = 'order' AND key IS NOT NULL;
CREATE INDEX log_goal ON log (experiment, key, seq) WHERE kind = 'goal' AND key IS NOT NULL;
CREATE INDEX log_alias ON log (experiment, key) WHERE kind = 'alias' AND key IS NOT NULL;
CREATE UNIQUE INDEX log_outcome ON log (experiment, decision, kind) WHERE decision IS NOT NULL;
CREATE INDEX log_about ON log (experiment, about, kind, seq) WHERE about IS NOT NULL;
CREATE INDEX log_change ON log (experiment, seq) WHERE settings IS NOT NULL;
ALTER TABLE log ADD COLUMN sender TEXT;
DROP INDEX IF EXISTS log_made;
CREATE TABLE alerts (
            id TEXT PRIMARY KEY,
            experiment BIGINT NOT NULL REFERENCES experiments (id),
            kind TEXT NOT NULL,
            subject TEXT NOT NULL,
            raised BIGINT NOT NULL,
            seq BIGINT NOT NULL,
            words TEXT NOT NULL,
            data TEXT NOT NULL,
            cleared BIGINT
        );
CREATE INDEX alerts_standing ON alerts (experiment) WHERE cleared IS NULL;
CREATE TABLE webhooks (
            id TEXT PRIMARY KEY,
            url TEXT NOT NULL,
            secret TEXT NOT NULL,
            kinds TEXT NOT NULL,
            created BIGINT NOT NULL,
            removed BIGINT
        );
CREATE TABLE deliveries (
            webhook TEXT NOT NULL REFERENCES webhooks (id),
            message TEXT NOT NULL,
            body TEXT NOT NULL,
            due BIGINT NOT NULL,
            attempts BIGINT NOT NULL,
            delivered BIGINT,
            PRIMARY KEY (webhook, message)
        );
CREATE INDEX deliveries_due ON deliveries (due) WHERE delivered IS NULL;
INSERT INTO facts VALUES ('program', 'patientbandits live');
INSERT INTO facts VALUES ('version', '8');
INSERT INTO facts VALUES ('secret', '26038f2df937c5a7723242c61c00edaa615068637be14afc0761fb2dd2121dfb');
INSERT INTO facts VALUES ('seal', '00c626576e27ca79422a4b9b3114308a');
INSERT INTO facts VALUES ('units', 'hashed');
INSERT INTO experiments (id, name, seed, created) VALUES (1, 'button', 8, 1700000000000000);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 1, 'change', 1700000000000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"arms":["red","green","blue"],"policy":{"policy":"UCB1"},"retired":[],"window":86400.0,"sticky":true,"paused":false,"scale":20.0,"credit":"first","control":null,"currency":null,"goals":[],"retention":null,"imported":0,"shares":null,"closed":false,"fallback":null,"quarantine":[]}', NULL, NULL, NULL,  E'\\242\\351[s\\377\\274\\017]\\266\\343FV\\220\\217Z`'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 2, 'assignment', 1700000000000000, 1, 0.334, 'NsDDmJGzs._J4BcuZTVR4w', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'K|\\347\\204P^*\\3568|\\274@$\\275?\\236\\025\\206\\257\\326'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 3, 'decision', 1700000000000000, 1, 0.334, 'NsDDmJGzs._J4BcuZTVR4w', 'ZuDMQ0RhTD27lMrnebLL4Q', NULL, NULL, 1700000000000000, NULL, NULL, NULL, NULL, NULL,  E'\\256\\205\\024\\372\\260R"\\322\\032\\302\\221\\317\\331R\\277\\210\\250\\215\\362\\011'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 4, 'decision', 1700000007250000, 2, NULL, 'QoKLZK72OwigvBI9nRUpFg', 'EIpvtQDUX4x4_y2OMaqWVA', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\226Ol\\331\\3112\\030\\022\\364.\\322e\\205\\357?_\\254\\330bq'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 5, 'order', 1700000007250000, NULL, NULL, 'QoKLZK72OwigvBI9nRUpFg', 'McwtVwVw8vIR.7jn4UNKTQ', NULL, 50000, 1700000007250000, NULL, NULL, NULL, NULL, NULL,  E'\\036\\277\\240\\3461\\243\\010i\\016\\033\\347\\026.X\\320n\\256\\365''\\356'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 6, 'credit', 1700000007250000, NULL, NULL, NULL, NULL, NULL, 50000, 1700000007250000, NULL, NULL, 4, NULL, NULL,  E'y\\007y&\\207\\332qq:i\\003\\252R\\237dg'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 7, 'decision', 1700000021750000, 0, NULL, 'DTt6vEQ6AAHjOGw5or9u5A', 'JDO2CtpGIGBtLCBe6T013w', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E',\\017A\\212\\245\\001\\346\\266r= nL\\273\\235*\\303O:\\016'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 8, 'assignment', 1700000043500000, 0, 0.333, 'A3lbeSJ5zZF0jE1r7Ox_uA', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\\\\\211[P|''\\332\\314\\3673S$$Y\\307\\346\\012 \\207\\353'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 9, 'decision', 1700000072500000, 2, NULL, 'X4yRZ3GL_5EhMXib28kY5A', 'Aa4SnF5fcJrxFOi.oNbdrQ', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\377\\010\\011\\271\\302z\\334\\245\\375\\251]\\177\\237\\010\\371 \\\\\\373\\335\\337'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 10, 'decision', 1700000072500000, 0, NULL, 'ODfrM3cs1.7kHdRz4Wra5A', 'q1NGYii9h4WS8WGjZYPyIg', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\026W-s0/\\301\\224\\033|\\0370=\\207d\\353\\267!\\017t'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 11, 'order', 1700000072500000, NULL, NULL, 'ODfrM3cs1.7kHdRz4Wra5A', 'l5fM9A8z7vE1hNBxqGzkZQ', NULL, 250000, 1700000072500000, NULL, NULL, NULL, NULL, NULL,  E'M\\027\\253\\2655\\012\\246_#\\006"\\273\\236\\267V\\331\\260\\257\\217\\307'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 12, 'credit', 1700000072500000, NULL, NULL, NULL, NULL, NULL, 250000, 1700000072500000, NULL, NULL, 10, NULL, NULL,  E'<3Z+W\\030\\025\\020Y\\317\\234f\\260\\274\\361\\361'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 13, 'assignment', 1700000079750000, 2, 0.333, '9.UClqAl0t.GIZtwSxTJVw', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'iE\\002\\350\\004\\275\\232\\227D\\014c\\351\\310\\011F=\\232\\200\\320\\266'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 14, 'decision', 1700000079750000, 2, 0.333, '9.UClqAl0t.GIZtwSxTJVw', 'Z7P.yqq3vsPYkk1rqwK0rA', NULL, NULL, 1700000079750000, NULL, NULL, NULL, NULL, NULL,  E'\\027\\225\\351Y\\322\\311\\005\\255\\345\\3743\\244\\377\\177\\361\\224\\3445\\327T'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 15, 'decision', 1700000094250000, 1, NULL, 'OyoDG2Zmq2Kzs9C.LHgE2w', 'LfCnn7T0E78Xj8995JoZ5w', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\366\\327\\275\\305\\372\\0325M2\\003''H\\203q\\265\\347\\254A\\235B'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 16, 'decision', 1700000116000000, 0, NULL, 'DUYR4QXWZWBqUm7lZ8YZfw', '14TciUj9_RlNorIbWMnVWA', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\342\\315\\222H\\312\\262\\037\\234^\\307\\241\\254"\\234^\\007\\016\\010O\\247'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 17, 'assignment', 1700000145000000, 0, 0.334, '34U8aU1h05NymMhuPeK2lA', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'>\\002\\351\\300\\362As\\000\\235R\\274\\342\\352\\021\\310\\331D#\\332\\261'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 18, 'order', 1700000145000000, NULL, NULL, '34U8aU1h05NymMhuPeK2lA', 'RR_3.0aq30U6UJA_w0grww', NULL, 100000, 1700000145000000, NULL, NULL, NULL, NULL, NULL,  E'\\376\\001W\\214\\347pm`\\342\\242\\337\\377\\366\\013,\\270\\267ACI'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 19, 'decision', 1700000145000000, 1, NULL, 'sT63lmqlj5IAJMJGgI2dxw', 'xdGV42tPUd7.6GToYbMwVw', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\260\\300\\205\\224|\\247\\221\\3306_!\\367\\206\\003\\331\\032\\243\\005\\203,'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 20, 'decision', 1700000152250000, 0, NULL, 'PraWdsUwU0uEP7BeV3J7Lg', 'XAIsnDx8._2ZV_F1wtTV3w', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'l\\013.\\242\\333\\177\\227\\277\\363\\365\\337\\237ri\\033\\376J~\\250\\236'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 21, 'assignment', 1700000166750000, 2, 0.333, 'Zpjj5j4LpwMhMm_HIqVQnw', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\222\\\\\\341\\244w8\\367+=\\3209\\3567\\264\\315\\250\\320\\244\\302\\220'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 22, 'decision', 1700000166750000, 2, 0.333, 'Zpjj5j4LpwMhMm_HIqVQnw', 'TsOYQs8qe8SzuVzlfKBWsw', NULL, NULL, 1700000166750000, NULL, NULL, NULL, NULL, NULL,  E'\\231\\227\\002L\\221\\263d\\010\\314Zy\\240\\270\\216\\220\\206o^lI'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 23, 'decision', 1700000188500000, 1, NULL, 'VlQn0r.GVVZoD3AcZClk6w', 'd4q4BHkyQvLai7QY65L9PA', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E' \\253\\302q\\221rE\\032\\002.I>N\\323b\\335\\177\\262\\3358'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 24, 'order', 1700000188500000, NULL, NULL, 'VlQn0r.GVVZoD3AcZClk6w', 't8AxNJ_.U318WedPb9iqcw', NULL, 300000, 1700000188500000, NULL, NULL, NULL, NULL, NULL,  E'\\241\\240\\336/\\36309:\\255\\223q\\007\\265-\\265\\215A\\277\\324\\031'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 25, 'credit', 1700000188500000, NULL, NULL, NULL, NULL, NULL, 300000, 1700000188500000, NULL, NULL, 23, NULL, NULL,  E'\\230w\\005B\\022\\271/\\001ap<X\\242/\\264\\354'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 26, 'decision', 1700000217500000, 1, NULL, 'iTKhE3EgXk4yTuWvgG_Yzw', '.FPDOITblDifTcKmxVD09A', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\015\\247?+W\\363G\\215\\0358#\\376\\021\\343Q\\273\\026\\341\\313\\007'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 27, 'assignment', 1700000217500000, 2, 0.332, 'V1CKsS2Ff0PH8Zc0eQKGcw', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\372\\245\\005\\212\\217\\265\\256+\\303\\231_W\\3564\\025\\014G\\233Z\\253'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 28, 'decision', 1700000224750000, 0, NULL, 'dFYHsvVvrarpTg35Z4FebA', 'SWjRu3L0ZNot6z0LJmGZwA', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'"\\006\\272\\260:\\263^\\373\\265\\255jb\\264i\\005\\314\\362\\200\\227\\005'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 29, 'decision', 1700000239250000, 2, NULL, 'XUJ7en0Tw2IQM0FJJ_C_iA', 'Hg6.2zeIfjqnz6a.mmcxYQ', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'?a\\322\\202\\202\\253>\\325\\256\\311\\257\\315\\217c\\370[-O\\003d'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 30, 'order', 1700000239250000, NULL, NULL, 'XUJ7en0Tw2IQM0FJJ_C_iA', 'mCUsn3W80Dst7MvqQl8iwQ', NULL, 150000, 1700000239250000, NULL, NULL, NULL, NULL, NULL,  E'\\322\\233>\\001\\031\\231x_<\\016\\321+\\037]\\321\\203U\\003\\236\\015'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 31, 'credit', 1700000239250000, NULL, NULL, NULL, NULL, NULL, 150000, 1700000239250000, NULL, NULL, 29, NULL, NULL,  E'\\321\\202\\031\\342S\\324j\\002I\\252sk>\\316\\356*'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 32, 'assignment', 1700000261000000, 2, 0.333, 'Gs3DU3Xiwn0h7cHFWkUysw', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'O\\3413\\337@S}>\\351\\372~\\367\\033Er\\351\\016\\205\\006<'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 33, 'decision', 1700000261000000, 2, 0.333, 'Gs3DU3Xiwn0h7cHFWkUysw', 'HSNFG4o4uPQZ4a.YlnrOiA', NULL, NULL, 1700000261000000, NULL, NULL, NULL, NULL, NULL,  E'\\253\\256\\260\\361\\363{\\025\\323\\016\\251\\230u<\\262{\\036\\326wO&'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 34, 'decision', 1700000290000000, 1, NULL, 'gWzh6gemK_ni1Qg8hFg9IQ', 'BNqJPrZnrkmJo.g7HAbBhw', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\240\\327\\375\\325\\023\\363''\\211\\216\\217\\376_\\253\\010\\263OT\\211\\331g'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 35, 'decision', 1700000290000000, 0, NULL, 'iUP0tO2tXcW77nCTOYikPQ', 'zhcDWi9aLydyhbE6lc8pRA', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\364DV\\012\\211\\017i\\373\\234\\307\\307\\207\\325\\362^\\247\\376I\\007\\333'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 36, 'assignment', 1700000297250000, 2, 0.333, 'JRxboUX8uhhVooIEDYovMg', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\246+\\333\\226Vy\\372\\202Or;\\264P\\371\\244zp\\313\\001\\374'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 37, 'order', 1700000297250000, NULL, NULL, 'JRxboUX8uhhVooIEDYovMg', 'FC08FnQASCG_v2y0528rqw', NULL, 0, 1700000297250000, NULL, NULL, NULL, NULL, NULL,  E'\\2360%v\\366/\\351\\200\\212}\\370\\334\\323\\025\\036\\376\\250\\211\\211\\244'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 38, 'decision', 1700000311750000, 1, NULL, '37J4sGF7n7tutWE_lIcJEQ', '8Lchwude7XxfZu7O6jZVLQ', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\234\\345<3\\350\\354''}\\024\\215\\352G\\345\\261\\324\\254K+(H'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 39, 'decision', 1700000333500000, 0, NULL, 'z2PoedOFpaR.UU8OkX7pcQ', 'O71lzcGNV03NxPLXfwD.BA', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'j\\204\\272\\275e\\303\\032\\000t\\246\\007j\\365\\202\\236<!\\205\\261\\303'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 40, 'assignment', 1700000362500000, 1, 0.333, 'xlvVgst6C1x_jHoyugliwg', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'K\\036,\\017\\314SL\\311\\221\\322\\202A/\\216f^_,\\210\\261'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 41, 'decision', 1700000362500000, 1, 0.333, 'xlvVgst6C1x_jHoyugliwg', 'gzLoDweoz0p_IUA3JkixQg', NULL, NULL, 1700000362500000, NULL, NULL, NULL, NULL, NULL,  E'1\\204\\023\\313\\241\\231\\236\\2210\\257@}\\257S\\340\\204\\274\\236VJ'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 42, 'decision', 1700000362500000, 2, NULL, '6zOtUr_MUGdK0RLvNLJ6Sw', 'bH4yyDv3G2MVvDQ22rVt2w', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E't\\236\\276-\\011\\327\\237*\\234?\\350\\246p\\222\\014\\336\\371\\255tT'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 43, 'order', 1700000362500000, NULL, NULL, '6zOtUr_MUGdK0RLvNLJ6Sw', 'qBrpghKhWcLyeLejQ98r3Q', NULL, 200000, 1700000362500000, NULL, NULL, NULL, NULL, NULL,  E'\\351=Ml\\006%u\\364\\232\\303B}\\300\\232\\205\\232+\\307V"'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 44, 'credit', 1700000362500000, NULL, NULL, NULL, NULL, NULL, 200000, 1700000362500000, NULL, NULL, 42, NULL, NULL,  E'R\\371\\235?;\\231D>\\303\\271S\\367\\376+\\312\\342'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 45, 'decision', 1700000369750000, 2, NULL, 'hQkj_lceQM97NmzNTbEuDg', 'mEp9952pd8lyd8Uo2lCIPg', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'@-\\350j\\264n\\373\\012N\\003}&3\\200\\307W\\351\\360\\237\\225'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 46, 'assignment', 1700000384250000, 2, 0.334, 'MbUzJjirmKp0x_sy_yTwlA', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\014\\242\\252lkN\\216\\021!\\266\\030\\247\\013\\220Q\\326\\303\\313\\274G'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 47, 'decision', 1700000406000000, 0, NULL, 'aFp9jOm84t9jKLfgFSmgBQ', 'fHyhUhl7p_CbEBZaJ0rydg', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'D\\353m\\210\\310\\341\\212\\275\\227\\204BW\\005\\022\\302\\366\\026)\\220D'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 48, 'decision', 1700000435000000, 2, NULL, 'TT6LTgcSXtLO7zRuzhAWRQ', 'zmhpOj3aaicr_VawTYQUhg', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\014\\356\\313n\\271\\261r\\033\\347\\323\\037\\222\\304\\246\\242''\\277S\\350L'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 49, 'order', 1700000435000000, NULL, NULL, 'TT6LTgcSXtLO7zRuzhAWRQ', 'GJm9HvlEkGnOCJ4lpbh51g', NULL, 50000, 1700000435000000, NULL, NULL, NULL, NULL, NULL,  E'\\342\\007=K\\\\\\335\\241_\\247\\202BK>\\031\\001@\\3631\\023r'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 50, 'credit', 1700000435000000, NULL, NULL, NULL, NULL, NULL, 50000, 1700000435000000, NULL, NULL, 48, NULL, NULL,  E'\\230n5\\301\\264\\036\\311\\240\\004\\217DU\\007G|\\332'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 51, 'assignment', 1700000435000000, 2, 0.334, 'J3MGanJiYZbtZIRtx2hEcQ', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'/u{\\312\\010v''\\205i\\343\\341/\\027BQ+`\\020\\2466'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 52, 'decision', 1700000435000000, 2, 0.334, 'J3MGanJiYZbtZIRtx2hEcQ', 'Vf0eM6humJjCNsJvgPdtdw', NULL, NULL, 1700000435000000, NULL, NULL, NULL, NULL, NULL,  E'\\274\\372\\273\\020\\270\\325\\014\\\\vWYS\\217\\374\\306\\330C\\235b\\002'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 53, 'decision', 1700000442250000, 1, NULL, '4U.5QCGr6QoCRAyzCz9ZZQ', 'e2iLGMIh7Puj5s_KhFj8iw', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\260\\352>\\373#\\321vd\\005\\364\\342\\026_\\276y\\257\\376\\316\\260\\340'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 54, 'decision', 1700000456750000, 0, NULL, '_E.GDeYdnjdCxLNRUb_phA', 'fca6pkkWlhdS0Ckna7Uq6Q', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'!2\\343+q\\032o5\\231\\262\\023\\010\\340\\200k\\330\\373E<\\277'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 55, 'assignment', 1700000478500000, 2, 0.334, 'iWCLO2qbLcR10xr6IA_5Ww', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\025\\361\\242\\234\\372\\273\\241\\033\\272\\271\\2455\\206\\337\\012\\003\\347\\333\\014('::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 56, 'order', 1700000478500000, NULL, NULL, 'iWCLO2qbLcR10xr6IA_5Ww', 'H_Qxwx4VDKvyuiVk.pjJUg', NULL, 250000, 1700000478500000, NULL, NULL, NULL, NULL, NULL,  E'\\275\\233g\\377Z?\\240\\261W&w\\244\\321\\037\\354''\\237\\324\\371\\322'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 57, 'decision', 1700000507500000, 1, NULL, 'ipIwpXfHBd7WmYZxxvPqDQ', 'kKz_NhsUtZTkNNlAZrXjJw', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\304\\034\\241\\015\\210\\213P\\277\\230\\224\\263\\023\\025\\374\\370\\260\\217D''\\347'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 58, 'decision', 1700000507500000, 0, NULL, 'CrsTLeH_NtzL7TVdDDdy9A', 'yhCWgVj4KJhClBOeGMC8kQ', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\347G\\257(\\327o\\221\\324\\336\\344\\201\\200\\271z\\026\\324\\2314\\333\\035'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 59, 'assignment', 1700000514750000, 2, 0.334, 'CeOOr.JyGdQvq6kWODU.8g', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\250R\\255\\015\\227\\226\\010\\250\\324\\033\\217\\026\\034\\226*\\244"q\\372\\340'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 60, 'decision', 1700000514750000, 2, 0.334, 'CeOOr.JyGdQvq6kWODU.8g', 'NSMnSuGP3wpX3nX5PAV6lg', NULL, NULL, 1700000514750000, NULL, NULL, NULL, NULL, NULL,  E'\\254qL\\013l\\024u\\276\\333\\352N\\372\\374\\007\\343\\364\\212\\323\\015\\261'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 61, 'decision', 1700000529250000, 1, NULL, '84eW04ETW2Z_7RLgonei5g', 'rCW9lrejvTkNZAAUe1yXGw', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\311\\342<|\\367\\226\\012\\265y\\332\\237\\354\\340\\366\\265>\\207\\243)}'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 62, 'order', 1700000529250000, NULL, NULL, '84eW04ETW2Z_7RLgonei5g', 'N5ql7ycvcU7ouOeGEKCNJQ', NULL, 100000, 1700000529250000, NULL, NULL, NULL, NULL, NULL,  E'O\\236\\275.\\024\\315\\323\\254*5\\274H\\242&\\306\\306U3\\260#'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 63, 'credit', 1700000529250000, NULL, NULL, NULL, NULL, NULL, 100000, 1700000529250000, NULL, NULL, 61, NULL, NULL,  E'\\330~a\\271\\205\\230\\021E\\214\\335\\235\\033\\027j<\\244'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 64, 'decision', 1700000551000000, 0, NULL, 'Ye.MFNWQT_nRLLzqK2osUw', 'MWu1ph.Zh9KTJdMapH0WWw', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\317\\326\\263\\245\\353\\311%\\354tC\\034O\\214\\314\\036\\350V\\262\\314\\266'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 65, 'assignment', 1700000580000000, 2, 0.334, '5F.fEkrip..FnXpXJKkOHA', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\202\\377\\212Cr\\013\\302\\015R"\\241\\366\\343\\371\\301\\366]"`\\233'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 66, 'assignment', 1700000580000000, 0, 0.332, '3MxWppA3KK97RsuZuQPkSw', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\301\\372!\\227\\2112\\205\\274,\\211\\033\\361\\247\\003\\224\\355\\274\\242)<'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 67, 'assignment', 1700000580000000, 0, 0.332, 'a6AzXzDn_JBSWLSsdbSPqQ', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\003\\000h\\251~3\\356\\013\\253\\255\\276g\\320\\354\\2034\\337\\314\\267N'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 68, 'alias', 1700000580000000, NULL, NULL, '3MxWppA3KK97RsuZuQPkSw', 'a6AzXzDn_JBSWLSsdbSPqQ', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\232 \\334)\\331\\267Q\\304^k\\012\\316&"\\277\\3410-\\036\\320'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 69, 'decision', 1700000580000000, 0, 0.332, '3MxWppA3KK97RsuZuQPkSw', NULL, NULL, NULL, 1700000580000000, NULL, NULL, NULL, NULL, NULL,  E'\\256fL/\\337V*\\200\\335\\271\\364\\201\\266\\241\\331\\330\\224\\025\\263\\013'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 70, 'assignment', 1700000580000000, 0, 0.332, 'mT.DJCBycxl6OxyAtl7ORw', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\356\\242;\\273\\355\\222#4\\020\\206\\351\\341\\2466\\216v\\305:\\021G'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 71, 'assignment', 1700000580000000, 1, 0.334, 'eb9Co51fq6V1ZspIDqiUPw', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\340\\002\\367i\\210J\\011\\324\\325\\203e\\367{\\347\\\\\\032\\222\\000\\256\\357'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 72, 'alias', 1700000580000000, NULL, NULL, 'mT.DJCBycxl6OxyAtl7ORw', 'eb9Co51fq6V1ZspIDqiUPw', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\204\\225\\211\\365\\003\\030\\260\\232\\013,\\2412@\\333B\\307\\272)\\335N'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 73, 'decision', 1700000580000000, 1, 0.334, 'mT.DJCBycxl6OxyAtl7ORw', NULL, NULL, NULL, 1700000580000000, NULL, NULL, NULL, NULL, NULL,  E'\\237\\027\\012\\317\\2270.\\302\\312{\\024&\\014\\346\\322~\\232\\262\\315\\370'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 74, 'assignment', 1700000580000000, 1, 0.334, '0jbee8GcJ9gNGD3Z5VRyJw', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\035;R\\334\\211g8\\331\\257\\272l\\303b!\\267\\\\\\205W\\177u'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 75, 'assignment', 1700000580000000, 1, 0.334, 'lXt4FPFzi0lGjHmgYo3fYQ', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'l\\351\\374\\263\\177\\303\\270\\210\\271\\206\\336\\231\\353 \\363\\327\\206f\\357\\364'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 76, 'alias', 1700000580000000, NULL, NULL, '0jbee8GcJ9gNGD3Z5VRyJw', 'lXt4FPFzi0lGjHmgYo3fYQ', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\312\\365\\264\\301\\344\\336\\344\\246\\026\\344\\271\\273R\\023J\\235\\213\\003\\013\\243'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 77, 'decision', 1700000580000000, 1, 0.334, '0jbee8GcJ9gNGD3Z5VRyJw', NULL, NULL, NULL, 1700000580000000, NULL, NULL, NULL, NULL, NULL,  E'Q\\322\\020\\334[\\323\\221\\311\\322\\014\\224\\225\\022%\\271\\360\\255\\340\\345B'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 78, 'assignment', 1700000580000000, 0, 0.332, '7bwzxo88cA2SC7nSZ2QwGA', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\367!\\311o\\235\\263\\0107&d6\\266lW\\030\\360J\\035\\214&'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 79, 'assignment', 1700000580000000, 0, 0.332, 'vTABFo8uB.WbFeeT9vkRww', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\336\\357l3\\011P\\214\\020\\257\\006IF\\336\\315J\\262\\334?\\350h'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 80, 'alias', 1700000580000000, NULL, NULL, '7bwzxo88cA2SC7nSZ2QwGA', 'vTABFo8uB.WbFeeT9vkRww', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\320\\372\\266\\205\\255\\220NW\\362\\303M~B\\263\\334\\227{2\\374\\003'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 81, 'decision', 1700000580000000, 0, 0.332, '7bwzxo88cA2SC7nSZ2QwGA', NULL, NULL, NULL, 1700000580000000, NULL, NULL, NULL, NULL, NULL,  E'\\315\\232''\\020\\323\\204\\177\\344\\254%e\\355\\2472^\\303\\373\\353\\335\\211'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 82, 'alias', 1700000580000000, NULL, NULL, 'NsDDmJGzs._J4BcuZTVR4w', 'QoKLZK72OwigvBI9nRUpFg', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'CnP\\001\\371^\\300\\235\\372\\275\\344OI\\373\\253\\2039a\\307\\007'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 83, 'credit', 1700000580000000, NULL, NULL, NULL, NULL, NULL, 50000, 1700000007250000, NULL, NULL, 3, NULL, NULL,  E'\\340"\\352uP\\215`z?\\020\\005\\002dm=\\327'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 84, 'credit', 1700000580000000, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, 4, NULL, NULL,  E'\\361\\370\\322%\\261mk\\016\\266\\314X\\331@\\210X\\203'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 85, 'alias', 1700000580000000, NULL, NULL, 'DTt6vEQ6AAHjOGw5or9u5A', 'A3lbeSJ5zZF0jE1r7Ox_uA', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'i\\310Y\\035\\343|l|\\220U\\273\\020\\016\\366\\227\\202%^\\266\\346'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 86, 'alias', 1700000580000000, NULL, NULL, 'X4yRZ3GL_5EhMXib28kY5A', 'ODfrM3cs1.7kHdRz4Wra5A', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'5~\\033\\005D)\\003s\\320-\\022\\2457K\\306\\211E\\237''\\272'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 87, 'credit', 1700000580000000, NULL, NULL, NULL, NULL, NULL, 250000, 1700000072500000, NULL, NULL, 9, NULL, NULL,  E'\\307\\252\\252\\207\\357\\375i\\260\\234\\021\\200\\371\\316\\355\\327R'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 88, 'credit', 1700000580000000, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, 10, NULL, NULL,  E'\\331%a\\004ank\\203%D\\373\\025\\221\\3574\\233'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 89, 'alias', 1700000580000000, NULL, NULL, '9.UClqAl0t.GIZtwSxTJVw', 'OyoDG2Zmq2Kzs9C.LHgE2w', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'<\\207`\\334qL\\334 6\\3660\\015\\352\\035\\335qd\\216\\200\\271'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 90, 'alias', 1700000580000000, NULL, NULL, 'DUYR4QXWZWBqUm7lZ8YZfw', '34U8aU1h05NymMhuPeK2lA', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'~,\\024"7\\202\\254\\270\\003\\024!\\367Z\\346\\303J\\012\\222=\\307'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 91, 'credit', 1700000580000000, NULL, NULL, NULL, NULL, NULL, 100000, 1700000145000000, NULL, NULL, 16, NULL, NULL,  E'4D*\\246\\237\\031~d\\270\\260\\016\\354\\277\\035\\307j'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 92, 'alias', 1700000580000000, NULL, NULL, 'sT63lmqlj5IAJMJGgI2dxw', 'PraWdsUwU0uEP7BeV3J7Lg', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'|+\\216g\\203\\352M\\220\\006\\372\\261\\230j\\245+\\322\\257\\2676$'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 93, 'alias', 1700000580000000, NULL, NULL, 'Zpjj5j4LpwMhMm_HIqVQnw', 'VlQn0r.GVVZoD3AcZClk6w', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\035\\207VhP.D\\303\\360\\337s\\206F\\356\\205q\\205\\327za'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 94, 'credit', 1700000580000000, NULL, NULL, NULL, NULL, NULL, 300000, 1700000188500000, NULL, NULL, 22, NULL, NULL,  E'\\215\\033<-ed\\220\\265|l\\217\\241\\352G\\021t'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 95, 'credit', 1700000580000000, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, 23, NULL, NULL,  E'\\211\\252\\004\\372n\\334\\275\\344\\3306\\311\\314Mok\\013'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 96, 'alias', 1700000580000000, NULL, NULL, 'iTKhE3EgXk4yTuWvgG_Yzw', 'V1CKsS2Ff0PH8Zc0eQKGcw', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'%kh\\277\\213Af\\271\\035\\302\\321N\\274\\270h\\364t\\276\\245\\363'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 97, 'alias', 1700000580000000, NULL, NULL, 'dFYHsvVvrarpTg35Z4FebA', 'XUJ7en0Tw2IQM0FJJ_C_iA', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\015,z\\336\\233\\321\\224&\\276\\361X\\304\\001\\007\\213k\\206\\360Z\\376'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 98, 'credit', 1700000580000000, NULL, NULL, NULL, NULL, NULL, 150000, 1700000239250000, NULL, NULL, 28, NULL, NULL,  E'\\352\\355A9)C\\313\\304T\\273\\2057\\227\\337Uj'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 99, 'credit', 1700000580000000, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, 29, NULL, NULL,  E'\\271\\207\\332*6;#?^W\\037T\\222\\257\\264*'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 100, 'alias', 1700000580000000, NULL, NULL, 'Gs3DU3Xiwn0h7cHFWkUysw', 'gWzh6gemK_ni1Qg8hFg9IQ', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\375u9\\250Ik\\275\\032\\207\\365\\255\\272\\377\\241\\352\\011%T\\264\\214'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 101, 'credit', 1700000580000000, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, 42, NULL, NULL,  E'k,Ki\\360\\303Q\\321\\316\\004\\271e\\334/\\027\\357'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 102, 'change', 1700000580000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"arms":["red","green","blue"],"policy":{"policy":"UCB1"},"retired":[],"window":86400.0,"sticky":true,"paused":false,"scale":20.0,"credit":"first","control":null,"currency":null,"goals":[],"retention":null,"imported":0,"shares":null,"closed":false,"fallback":null,"quarantine":[{"id":"q1","unit":"6zOtUr_MUGdK0RLvNLJ6Sw","note":"a robot"}]}', NULL, NULL, NULL,  E'\\360]\\251\\332\\245\\367\\202~\\272\\200\\307_nap\\034'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 103, 'change', 1700000580000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"arms":["red","green","blue"],"policy":{"policy":"UCB1"},"retired":["green"],"window":86400.0,"sticky":true,"paused":false,"scale":20.0,"credit":"first","control":null,"currency":null,"goals":[],"retention":null,"imported":0,"shares":null,"closed":false,"fallback":null,"quarantine":[{"id":"q1","unit":"6zOtUr_MUGdK0RLvNLJ6Sw","note":"a robot"}]}', NULL, NULL, NULL,  E'\\177\\273\\267\\377\\207|\\200v\\347\\012\\344\\313\\003\\215d\\307'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 104, 'decision', 1700000580000000, 2, 0.333, 'JRxboUX8uhhVooIEDYovMg', NULL, NULL, NULL, 1700000580000000, NULL, NULL, NULL, NULL, NULL,  E'\\257\\362%|\\302\\313\\324\\306\\246\\346\\257l\\263\\361\\303\\3713s\\334\\362'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 105, 'decision', 1700000580000000, 2, NULL, '37J4sGF7n7tutWE_lIcJEQ', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\031t\\032;\\242O\\371\\247:\\014\\261$<\\372\\237''\\261Ek\\031'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 106, 'decision', 1700000580000000, 2, NULL, 'xlvVgst6C1x_jHoyugliwg', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\356S\\003*\\336\\265$\\256\\233\\351\\000\\217\\206L\\252\\354M\\373a\\321'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 107, 'decision', 1700000580000000, 2, 0.334, 'MbUzJjirmKp0x_sy_yTwlA', NULL, NULL, NULL, 1700000580000000, NULL, NULL, NULL, NULL, NULL,  E'o\\030\\366\\273\\274\\362\\032\\200\\316u\\272\\355;\\2146\\013\\371\\253\\317\\020'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 108, 'decision', 1700000580000000, 0, NULL, '4U.5QCGr6QoCRAyzCz9ZZQ', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\216\\354\\301+3%\\031C\\177\\177=\\243\\257\\312\\213\\202\\325+3w'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 109, 'decision', 1700000580000000, 2, 0.334, 'iWCLO2qbLcR10xr6IA_5Ww', NULL, NULL, NULL, 1700000580000000, NULL, NULL, NULL, NULL, NULL,  E'\\267\\261\\020\\316B\\211[F\\262\\365\\221ux\\370\\327\\205lM.\\320'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 110, 'decision', 1700000580000000, 0, NULL, 'ipIwpXfHBd7WmYZxxvPqDQ', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\347F@,\\347~\\201C\\265\\270]\\356\\212e4\\214\\327\\240\\234\\220'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 111, 'decision', 1700000580000000, 2, NULL, '84eW04ETW2Z_7RLgonei5g', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  E'\\221\\275y\\316\\372\\352\\021\\233^\\200?\\334\\265\\262\\335\\011\\363{\\375\\240'::bytea);
INSERT INTO log (experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, settings, about, goal, sender, chain) VALUES (1, 112, 'decision', 1700000580000000, 2, 0.334, '5F.fEkrip..FnXpXJKkOHA', NULL, NULL, NULL, 1700000580000000, NULL, NULL, NULL, NULL, NULL,  E'\\240D\\270q\\3576f\\361\\214\\262\\276^|\\351Q\\010\\2727\\031;'::bytea);
