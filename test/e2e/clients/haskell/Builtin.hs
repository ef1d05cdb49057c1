{-# LANGUAGE FlexibleContexts #-}
{-# LANGUAGE FlexibleInstances #-}
{-# LANGUAGE MultiParamTypeClasses #-}
{-# LANGUAGE OverloadedStrings #-}
{-# OPTIONS_GHC -fno-warn-orphans #-}

-- | Steps with built-in kinds through the typed API, whose bodies do not carry apiVersion and kind.
module Builtin (steps) where

import Control.Monad (forM_)
import Data.Aeson (Value, encode, object, toJSON, (.=))
import qualified Data.ByteString.Lazy as BL
import qualified Data.Map as Map
import Data.Maybe (isJust)
import Data.Text (Text)
import qualified Data.Text as Text
import Harness
import Kubernetes.OpenAPI
import qualified Kubernetes.OpenAPI.API.AppsV1 as Apps
import qualified Kubernetes.OpenAPI.API.CoreV1 as Core

-- | The client has the media type of apply, and leaves to its users how to write it: JSON is YAML.
instance MimeRender MimeApplyPatchyaml Body where
  mimeRender _ = encode

steps :: Connection -> Text -> [(Text, Step)]
steps client space =
  [ ("create a built-in object without apiVersion and kind", always (create client namespace)),
    ("get", always (get client namespace)),
    ("secrets keep their bytes", always (secrets client namespace)),
    ("list in chunks", always (chunks client namespace)),
    ("json, merge and strategic merge patch", always (patches client namespace)),
    ("apply", always (apply client namespace)),
    ("replace, and replace with a stale resourceVersion", always (replace client namespace)),
    ("dry run", always (dryRun client namespace)),
    ("scale and status", always (subresources client namespace)),
    ("delete, one and many", always (delete client namespace))
  ]
  where
    namespace = Namespace space

configMap :: Text -> [(String, Text)] -> V1ConfigMap
configMap name with =
  mkV1ConfigMap {v1ConfigMapMetadata = Just (named name), v1ConfigMapData = Just (Map.fromList with)}

texts :: V1ConfigMap -> [(String, Text)]
texts = maybe [] Map.toList . v1ConfigMapData

made :: Connection -> Namespace -> V1ConfigMap -> IO V1ConfigMap
made client namespace new = send client (Core.createNamespacedConfigMap body json new namespace)

get' :: Text -> Namespace -> KubernetesRequest Core.ReadNamespacedConfigMap MimeNoContent V1ConfigMap MimeJSON
get' name = Core.readNamespacedConfigMap json (Name name)

create, get, secrets, chunks, patches, apply, replace, dryRun, subresources, delete :: Connection -> Namespace -> IO ()

create client namespace = do
  got <- made client namespace (configMap "one" [("a", "1")])
  equal (v1ConfigMapKind got, v1ConfigMapApiVersion got) (Just "ConfigMap", Just "v1")
  equal (texts got) [("a", "1")]
  let has field = maybe False (isJust . field) (v1ConfigMapMetadata got)
  holds (has v1ObjectMetaUid && has v1ObjectMetaResourceVersion) (show got)
  holds (has v1ObjectMetaCreationTimestamp) (show got)

get client namespace = do
  got <- send client (get' "one" namespace)
  equal (texts got) [("a", "1")]
  message <- refused 404 "NotFound" client (get' "nothing" namespace)
  equal message "configmaps \"nothing\" not found"

secrets client namespace = do
  let bytes = Just (Map.fromList [("key", ByteArray (BL.pack [0, 255, 10]))])
      secret = mkV1Secret {v1SecretMetadata = Just (named "one"), v1SecretData = bytes}
  _ <- send client (Core.createNamespacedSecret body json secret namespace)
  got <- send client (Core.readNamespacedSecret json (Name "one") namespace)
  equal (v1SecretData got) bytes

paged :: LabelSelector
paged = LabelSelector "page=yes"

chunks client namespace = do
  let names = [Text.pack ("page-" ++ show i) | i <- [0 .. 6 :: Int]]
      labelled name = (named name) {v1ObjectMetaLabels = Just (Map.fromList [("page", "yes")])}
  forM_ names $ \name -> made client namespace mkV1ConfigMap {v1ConfigMapMetadata = Just (labelled name)}
  pages <- rest Nothing
  equal (map length pages) [3, 3, 1]
  equal (concat pages) (map Just names)
  where
    rest token = do
      let first = Core.listNamespacedConfigMap json namespace -&- paged -&- Limit 3
      page <- send client (maybe first (\next -> first -&- Continue next) token)
      let found = [v1ConfigMapMetadata item >>= v1ObjectMetaName | item <- v1ConfigMapListItems page]
      case v1ConfigMapListMetadata page >>= v1ListMetaContinue of
        Just next | next /= "" -> (found :) <$> rest (Just next)
        _ -> pure [found]

-- | A patch of the ConfigMap that the steps are about.
patch ::
  (Consumes Core.PatchNamespacedConfigMap mime, MimeRender mime Body) =>
  mime -> Value -> Namespace -> KubernetesRequest Core.PatchNamespacedConfigMap mime V1ConfigMap MimeJSON
patch mime change = Core.patchNamespacedConfigMap (ContentType mime) json (Body change) (Name "one")

patches client namespace = do
  let add value =
        [ object ["op" .= text "test", "path" .= text "/data/a", "value" .= text value],
          object ["op" .= text "add", "path" .= text "/data/b", "value" .= text "2"]
        ]
      jsonPatch value = patch MimeJsonPatchjson (toJSON (add value)) namespace
  got <- send client (jsonPatch "1")
  equal (texts got) [("a", "1"), ("b", "2")]
  _ <- refused 422 "Invalid" client (jsonPatch "other")
  let merge = object ["data" .= object ["b" .= (Nothing :: Maybe Text), "c" .= text "3"]]
  merged <- send client (patch MimeMergePatchjson merge namespace)
  equal (texts merged) [("a", "1"), ("c", "3")]
  let strategic = object ["data" .= object ["$patch" .= text "replace", "c" .= text "4"]]
  replaced <- send client (patch MimeStrategicMergePatchjson strategic namespace)
  equal (texts replaced) [("c", "4")]

apply client namespace = do
  let map' value =
        object
          [ "apiVersion" .= text "v1",
            "kind" .= text "ConfigMap",
            "metadata" .= object ["name" .= text "one"],
            "data" .= object ["e" .= text value]
          ]
      by manager value = patch MimeApplyPatchyaml (map' value) namespace -&- FieldManager manager
  got <- send client (by "haskell" "1")
  equal (texts got) [("c", "4"), ("e", "1")]
  _ <- refused 409 "Conflict" client (by "other" "2")
  forced <- send client (by "other" "2" -&- Force True)
  equal (texts forced) [("c", "4"), ("e", "2")]

replace client namespace = do
  old <- send client (get' "one" namespace)
  let with to = old {v1ConfigMapData = Just (Map.fromList to)}
      put to = Core.replaceNamespacedConfigMap body json (with to) (Name "one") namespace
      revision of' = v1ConfigMapMetadata of' >>= v1ObjectMetaResourceVersion
  new <- send client (put [("d", "4")])
  holds (revision new /= revision old) "the resourceVersion stayed"
  message <- refused 409 "Conflict" client (put [])
  holds ("the object has been modified" `Text.isInfixOf` message) (show message)
  got <- send client (get' "one" namespace)
  equal (texts got) [("d", "4")]

dryRun client namespace = do
  got <- send client (Core.createNamespacedConfigMap body json (configMap "dry" []) namespace -&- DryRun "All")
  holds (isJust (v1ConfigMapMetadata got >>= v1ObjectMetaUid)) (show got)
  _ <- refused 404 "NotFound" client (get' "dry" namespace)
  pure ()

subresources client namespace = do
  let labels = object ["app" .= text "scaled"]
      container = object ["name" .= text "one", "image" .= text "example.com/one"]
      template = object ["metadata" .= object ["labels" .= labels], "spec" .= object ["containers" .= [container]]]
      selector = object ["matchLabels" .= labels]
      name = Name "scaled"
  deployment <-
    model $
      object
        [ "metadata" .= object ["name" .= text "scaled"],
          "spec" .= object ["replicas" .= one, "selector" .= selector, "template" .= template]
        ]
  _ <- send client (Apps.createNamespacedDeployment body json deployment namespace)
  scale <- send client (Apps.readNamespacedDeploymentScale json name namespace)
  equal (v1ScaleSpec scale >>= v1ScaleSpecReplicas) (Just 1)
  let three = scale {v1ScaleSpec = Just mkV1ScaleSpec {v1ScaleSpecReplicas = Just 3}}
  _ <- send client (Apps.replaceNamespacedDeploymentScale body json three name namespace)
  let replicas count = object ["replicas" .= (count :: Int)]
      status = Body (object ["spec" .= replicas 9, "status" .= replicas 2])
      merge = ContentType MimeMergePatchjson
  _ <- send client (Apps.patchNamespacedDeploymentStatus merge json status name namespace)
  got <- send client (Apps.readNamespacedDeploymentScale json name namespace)
  equal (v1ScaleSpec got >>= v1ScaleSpecReplicas) (Just 3)
  equal (v1ScaleStatusReplicas <$> v1ScaleStatus got) (Just 2)
  where
    one = 1 :: Int

delete client namespace = do
  got <- send client (get' "one" namespace)
  let request options = Core.deleteNamespacedConfigMap body json (Name "one") namespace `setBodyParam` options
      only uid = mkV1DeleteOptions {v1DeleteOptionsPreconditions = Just mkV1Preconditions {v1PreconditionsUid = uid}}
  message <- refused 409 "Conflict" client (request (only (Just "another")))
  holds ("the UID in the precondition (another) does not match" `Text.isInfixOf` message) (show message)
  let mine = request (only (v1ConfigMapMetadata got >>= v1ObjectMetaUid))
  status <- send client (mine -&- GracePeriodSeconds 0 -&- PropagationPolicy "Background")
  equal (v1StatusStatus status) (Just "Success")
  _ <- send client (Core.deleteCollectionNamespacedConfigMap body json namespace -&- paged)
  left <- send client (Core.listNamespacedConfigMap json namespace -&- paged)
  equal (v1ConfigMapListItems left) []
